{{- define "gpu.name" -}}
{{ printf "%s-%s" .root.Release.Name .part | trunc 40 | trimSuffix "-" }}
{{- end -}}
