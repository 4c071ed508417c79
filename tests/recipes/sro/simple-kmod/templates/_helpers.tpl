{{- define "simple-kmod.image" -}}
{{ .Values.image }}:v{{ .Values.kernelFullVersion }}
{{- end -}}
