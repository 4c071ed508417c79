// Copyright (c) 2026 hardware.enablement contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Stands in for NRI's device injector, whose module no proxy has: the container runtime gives a container the CDI
// devices that an annotation of its pod names. Of the annotations that the original knows, this is one.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"sigs.k8s.io/yaml"
)

const key = "cdi-devices.noderesource.dev/container."

type injector struct{}

// CreateContainer is asked by the container runtime before it makes a container.
func (injector) CreateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) (
	*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	var names []string
	if err := yaml.Unmarshal([]byte(pod.Annotations[key+container.Name]), &names); err != nil {
		return nil, nil, err
	}
	adjustment := &api.ContainerAdjustment{}
	for _, name := range names {
		adjustment.AddCDIDevice(&api.CDIDevice{Name: name})
	}
	return adjustment, nil, nil
}

func main() {
	name := flag.String("name", "device-injector", "name that the container runtime knows the plugin by")
	index := flag.String("idx", "10", "place among the plugins")
	flag.Parse()
	plugin, err := stub.New(injector{}, stub.WithPluginName(*name), stub.WithPluginIdx(*index))
	if err == nil {
		err = plugin.Run(context.Background())
	}
	log.Fatalf("injector: %v", err)
}
