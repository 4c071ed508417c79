{{- define "common.owner" -}}
owner-of-{{ .Release.Name }}
{{- end -}}
