// Copyright (c) 2026 hardware.enablement contributors
// GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Stands in for nvidia-container-runtime: puts the devices of a CDI specification into the bundle of a container whose
// environment says NVIDIA_VISIBLE_DEVICES=all, then becomes runc. What differs between nodes is in runtime.json beside it.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

type object = map[string]any

// Settings of the installer: the folders of CDI specifications, and the kind whose device "all" means all GPUs.
type settings struct {
	Folders []string `json:"folders"`
	Kind    string   `json:"kind"`
}

type edits struct {
	Env         []string `json:"env"`
	DeviceNodes []struct {
		Path     string `json:"path"`
		HostPath string `json:"hostPath"`
	} `json:"deviceNodes"`
	Mounts []struct {
		HostPath      string   `json:"hostPath"`
		ContainerPath string   `json:"containerPath"`
		Options       []string `json:"options"`
	} `json:"mounts"`
}

type specification struct {
	Kind    string `json:"kind"`
	Devices []struct {
		Name  string `json:"name"`
		Edits edits  `json:"containerEdits"`
	} `json:"devices"`
	Edits edits `json:"containerEdits"`
}

func main() {
	if bundle := bundleOf(os.Args); bundle != "" {
		if err := prepare(filepath.Join(bundle, "config.json")); err != nil {
			fail(err)
		}
	}
	runc, err := exec.LookPath("runc")
	if err == nil {
		err = syscall.Exec(runc, append([]string{runc}, os.Args[1:]...), os.Environ())
	}
	fail(err)
}

// bundleOf gives the bundle of `... create --bundle FOLDER ...`, "" for every other command.
func bundleOf(arguments []string) string {
	creating := false
	for number, argument := range arguments {
		creating = creating || argument == "create"
		if creating && argument == "--bundle" && number+1 < len(arguments) {
			return arguments[number+1]
		}
	}
	return ""
}

// fail says what went wrong where the container's manager reads it: on stderr, and in the file after --log.
func fail(err error) {
	message := "nvidia-container-runtime: " + err.Error()
	fmt.Fprintln(os.Stderr, message)
	for number, argument := range os.Args {
		if argument == "--log" && number+1 < len(os.Args) {
			line, _ := json.Marshal(map[string]string{"level": "error", "msg": message})
			_ = os.WriteFile(os.Args[number+1], append(line, '\n'), 0o600)
		}
	}
	os.Exit(1)
}

func prepare(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var config object
	decoder := json.NewDecoder(bytes.NewReader(text))
	// Limits may be larger than a float64 keeps exactly.
	decoder.UseNumber()
	if err := decoder.Decode(&config); err != nil {
		return err
	}
	process := child(config, "process")
	if !wanted(process) {
		return nil
	}
	found, err := lookUp()
	if err != nil {
		return err
	}
	for _, edit := range found {
		if err := apply(edit, config); err != nil {
			return err
		}
	}
	if text, err = json.Marshal(config); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

func wanted(process object) bool {
	value := ""
	for _, entry := range list(process, "env") {
		if name, given, _ := strings.Cut(entry.(string), "="); name == "NVIDIA_VISIBLE_DEVICES" {
			value = given
		}
	}
	return value == "all"
}

// lookUp gives what the specification says of the device "all": for every container, and for this device.
func lookUp() ([]edits, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var own settings
	if err := read(filepath.Join(filepath.Dir(self), "runtime.json"), &own); err != nil {
		return nil, err
	}
	for _, folder := range own.Folders {
		files, _ := filepath.Glob(filepath.Join(folder, "*.json"))
		for _, file := range files {
			var found specification
			if err := read(file, &found); err != nil {
				return nil, err
			}
			for _, device := range found.Devices {
				if found.Kind == own.Kind && device.Name == "all" {
					return []edits{found.Edits, device.Edits}, nil
				}
			}
		}
	}
	return nil, fmt.Errorf("unresolvable CDI devices %s=all: no specification in %s", own.Kind, strings.Join(own.Folders, ", "))
}

func apply(edit edits, config object) error {
	process, linux := child(config, "process"), child(config, "linux")
	resources := child(linux, "resources")
	for _, entry := range edit.Env {
		process["env"] = append(list(process, "env"), entry)
	}
	for _, node := range edit.DeviceNodes {
		var status syscall.Stat_t
		if err := syscall.Stat(node.HostPath, &status); err != nil {
			return fmt.Errorf("device %s: %w", node.HostPath, err)
		}
		major, minor := status.Rdev>>8&0xfff, status.Rdev&0xff
		device := object{"path": node.Path, "type": "c", "major": major, "minor": minor, "fileMode": 0o666}
		linux["devices"] = append(list(linux, "devices"), device)
		rule := object{"allow": true, "type": "c", "major": major, "minor": minor, "access": "rwm"}
		resources["devices"] = append(list(resources, "devices"), rule)
	}
	for _, mount := range edit.Mounts {
		if _, err := os.Stat(mount.HostPath); err != nil {
			return err
		}
		entry := object{"destination": mount.ContainerPath, "type": "bind", "source": mount.HostPath, "options": mount.Options}
		config["mounts"] = append(list(config, "mounts"), entry)
	}
	return nil
}

func child(parent object, name string) object {
	found, ok := parent[name].(object)
	if !ok {
		found = object{}
		parent[name] = found
	}
	return found
}

func list(parent object, name string) []any {
	found, _ := parent[name].([]any)
	return found
}

func read(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
