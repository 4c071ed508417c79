// Copyright (c) 2026 hardware.enablement contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Stands in for NRI's device injector, whose module no proxy has: the container runtime gives a container the CDI
// devices that an annotation of its pod names. Of the annotations that the original knows, this is one.
// With -prefix and -namespace it is the plugin of NVIDIA's container toolkit.
package main

import (
	"context"
	"flag"
	"log"
	"strings"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"sigs.k8s.io/yaml"
)

// prefix: of the annotation, before the container's name. namespace: of the pods that may ask, "" for all.
type injector struct {
	prefix, namespace string
}

// CreateContainer is asked by the container runtime before it makes a container.
func (i injector) CreateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) (
	*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	if i.namespace != "" && pod.Namespace != i.namespace {
		return nil, nil, nil
	}
	names, err := namesIn(pod.Annotations[i.prefix+container.Name])
	if err != nil {
		return nil, nil, err
	}
	adjustment := &api.ContainerAdjustment{}
	for _, name := range names {
		adjustment.AddCDIDevice(&api.CDIDevice{Name: name})
	}
	return adjustment, nil, nil
}

// namesIn reads a list in YAML, as NRI's device injector does, or names with commas between them, as NVIDIA's plugin.
func namesIn(text string) (names []string, err error) {
	if text != "" && !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "-") {
		return strings.Split(text, ","), nil
	}
	return names, yaml.Unmarshal([]byte(text), &names)
}

func main() {
	name := flag.String("name", "device-injector", "name that the container runtime knows the plugin by")
	index := flag.String("idx", "10", "place among the plugins")
	socket := flag.String("socket", api.DefaultSocketPath, "the container runtime's socket for plugins")
	made := injector{}
	flag.StringVar(&made.prefix, "prefix", "cdi-devices.noderesource.dev/container.", "of the annotation that asks")
	flag.StringVar(&made.namespace, "namespace", "", "of the pods that may ask; empty for all")
	flag.Parse()
	plugin, err := stub.New(made, stub.WithPluginName(*name), stub.WithPluginIdx(*index), stub.WithSocketPath(*socket))
	if err == nil {
		err = plugin.Start(context.Background())
	}
	if err != nil {
		log.Fatalf("injector: %v", err)
	}
	log.Print("Waiting for signal")
	plugin.Wait()
	log.Fatal("injector: the container runtime has ended the connection")
}
