# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A chart of a device plugin as vendors write theirs: helpers, switches, a schema, a hook, and text with
braces that are not its own."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "Chart.yaml": "apiVersion: v2\nname: acme-plugin\nversion: 1.2.0\nappVersion: '4.1'\n",
    "values.yaml": """\
image: {repository: registry.example.org/acme/plugin, tag: ""}
logLevel: info
# Also part of a condition, and so no option.
mode: shared
port: 9400
name: a-name-that-is-cut
exporter: {enabled: true, port: 9400}
tolerations: []
""",
    "values.schema.json": """\
{"type": "object", "properties": {
  "logLevel": {"type": "string", "enum": ["info", "debug"], "description": "How much it says."}}}
""",
    "templates/_helpers.tpl": '{{- define "acme.name" -}}{{ .Release.Name }}-{{ .Values.name | trunc 6 }}{{- end }}\n',
    "templates/plugin.yaml": """\
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ include "acme.name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    app.kubernetes.io/managed-by: {{ .Release.Service }}
spec:
  selector: {matchLabels: {app: plugin}}
  template:
    metadata: {labels: {app: plugin}}
    spec:
      serviceAccountName: plugin
      containers:
        - name: plugin
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          args: ["--log={{ .Values.logLevel }}"{{ if eq .Values.mode "shared" }}, --share{{ end }}]
          env:
            - name: PORT
              value: "{{ .Values.port }}"
            - name: MODE
              value: {{ .Values.mode }}
          volumeMounts:
            - {name: plugins, mountPath: /plugins}
      volumes:
        - {name: plugins, hostPath: {path: /var/lib/kubelet/device-plugins}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: plugin}
""",
    "templates/exporter.yaml": """\
{{- if .Values.exporter.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: exporter}
spec:
  selector: {matchLabels: {app: exporter}}
  template:
    metadata: {labels: {app: exporter}}
    spec:
      containers:
        - name: exporter
          image: registry.example.org/acme/exporter:1
          ports: [{containerPort: {{ .Values.exporter.port }}}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: dashboard}
data:
  legend: "{{ "{{" }} instance }} {% of all %}"
{{- end }}
""",
    "templates/hook.yaml": """\
apiVersion: batch/v1
kind: Job
metadata:
  name: test
  annotations: {helm.sh/hook: test}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: test, image: registry.example.org/acme/test:1}]
""",
    "templates/NOTES.txt": "Thank you.\n",
}


def write_plugin_chart(folder: Path) -> Path:
    """Write it into a new folder, which is given back."""
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder
