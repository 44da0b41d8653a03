{{- define "forgehand.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 48 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 48 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "forgehand.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end -}}
{{- end }}

{{- define "forgehand.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "forgehand.labels" -}}
{{ include "forgehand.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* Keys of the ConfigMap: the config, and each rule file as FOLDER..FILE. */}}
{{- define "forgehand.files" -}}
forgehand.yaml: |
{{ toYaml .Values.config | indent 2 }}
{{- range $folder, $files := .Values.rules }}
{{- range $file, $text := $files }}
{{ $folder }}..{{ $file }}: |
{{ $text | indent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- define "forgehand.configVolume" -}}
- name: config
  configMap:
    name: {{ .map }}
    items:
      - { key: forgehand.yaml, path: forgehand.yaml }
      {{- range $folder, $files := .root.Values.rules }}
      {{- range $file, $text := $files }}
      - { key: {{ $folder }}..{{ $file }}, path: rules/{{ $folder }}/{{ $file }} }
      {{- end }}
      {{- end }}
- { name: state, emptyDir: { sizeLimit: 1Gi } }
- { name: tmp, emptyDir: { sizeLimit: 1Gi } }
{{- end }}

{{- define "forgehand.mounts" -}}
- { name: config, mountPath: /etc/forgehand, readOnly: true }
- { name: state, mountPath: /var/lib/forgehand }
- { name: tmp, mountPath: /tmp }
{{- end }}

{{- define "forgehand.env" -}}
{{- range $name, $from := . }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $from.secret }}, key: {{ $from.key }} } }
{{- end }}
{{- end }}

{{/* Pod security "restricted". */}}
{{- define "forgehand.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "forgehand.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
