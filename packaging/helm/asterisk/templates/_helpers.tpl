{{- define "asterisk.labels" -}}
app.kubernetes.io/name: asterisk
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "asterisk.selector" -}}
app.kubernetes.io/name: asterisk
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: worker
{{- end }}

{{- define "asterisk.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities:
    drop: [ALL]
env:
  - name: ASTERISK_STORE
    value: {{ .Values.store | quote }}
  - name: PGPASSWORD
    valueFrom:
      secretKeyRef:
        name: {{ .Values.password.secret }}
        key: {{ .Values.password.key }}
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  - name: work
    mountPath: /work
{{- end }}

{{- define "asterisk.volumes" -}}
- name: tmp
  emptyDir: {}
- name: work
  emptyDir: {}
{{- end }}
