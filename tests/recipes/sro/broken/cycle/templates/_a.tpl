{{- define "one" }}{{ include "two" . }}{{ end }}
{{- define "two" }}{{ include "one" . }}{{ end }}
