{{- define "toolcrib.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* 52 characters, for what is appended to it: a Job's pods have names of 63 at the most. */}}
{{- define "toolcrib.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "toolcrib.name" .) .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "toolcrib.name" .) | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Of everything in the release. */}}
{{- define "toolcrib.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "toolcrib.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The pods that serve. The component keeps those of the migrations out of the Service. */}}
{{- define "toolcrib.selectorLabels" -}}
app.kubernetes.io/name: {{ include "toolcrib.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end }}

{{- define "toolcrib.migrationLabels" -}}
app.kubernetes.io/name: {{ include "toolcrib.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: migrations
{{- end }}

{{- define "toolcrib.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "toolcrib.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "toolcrib.fullname" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{/* The Secret of the service. Many replicas need one PostgreSQL: without its URL nothing is installed. */}}
{{- define "toolcrib.secretName" -}}
{{- if .Values.externalSecret.enabled }}{{ include "toolcrib.fullname" . }}
{{- else }}
{{- required (printf "secrets.existingSecret is required: the name of a Secret with the keys %s (PostgreSQL, which the replicas share) and %s; or set externalSecret.enabled. See the chart's README.md, \"Install in ten minutes\"" .Values.secrets.databaseUrlKey .Values.secrets.platformKeyKey) .Values.secrets.existingSecret }}
{{- end }}
{{- end }}

{{/* Settings of the service, for replicas and migrations alike. A number is written as JSON does: 536870912, not 5.36870912e+08. */}}
{{- define "toolcrib.env" -}}
{{- $secret := "is a secret: put it into the Secret (secrets.existingSecret)" }}
{{- $own := dict "DATABASE_URL" $secret "REDIS_URL" $secret "TOOLCRIB_PLATFORM_KEY" $secret "PORT" "is set by containerPort" "TOOLCRIB_MIGRATE" "is always off: a Job migrates" "TOOLCRIB_DATA_DIR" "is for the embedded database, which replicas can not share" }}
{{- range $name, $value := .Values.config }}
{{- with get $own $name }}{{ fail (printf "config.%s can not be set: it %s" $name .) }}{{ end }}
- name: {{ $name }}
  value: {{ if kindIs "string" $value }}{{ $value | quote }}{{ else }}{{ toJson $value | quote }}{{ end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Of every pod: what it may write, and more. */}}
{{- define "toolcrib.volumes" -}}
- name: tmp
  emptyDir: {sizeLimit: 64Mi}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "toolcrib.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Of every pod. The service takes an unknown TOOLCRIB_* for a mistake, and service links would be such: TOOLCRIB_SERVICE_HOST. */}}
{{- define "toolcrib.podSpec" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* A rule of egress: to these peers, or to everybody, on these ports of TCP (UDP too where `udp` says so). */}}
{{- define "toolcrib.egress" -}}
- ports:
    {{- range .ports }}
    - {protocol: TCP, port: {{ . }}}
    {{- if $.udp }}
    - {protocol: UDP, port: {{ . }}}
    {{- end }}
    {{- end }}
  {{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

{{/* Where an external secret is in its store. */}}
{{- define "toolcrib.remoteRef" -}}
{{- if not .ref.key }}{{ fail (printf "externalSecret.%s.key is required with externalSecret.enabled: where the store has %s" .name .what) }}{{ end }}
{{- toYaml .ref }}
{{- end }}
