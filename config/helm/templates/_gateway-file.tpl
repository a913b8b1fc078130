{{/* What the gateway file says of ports, times and replicas, as JSON. */}}
{{- define "sundial.gateway" -}}
{{- $file := required "gateway is missing: add --set-file gateway=gateway.yaml" .Values.gateway | fromYaml -}}
{{- if hasKey $file "Error" -}}{{- fail (printf "gateway: %s" $file.Error) -}}{{- end -}}
{{- $listeners := $file.listeners | default dict -}}
{{- $ports := dict -}}
{{- range $name := list "https" "http" "metrics" -}}
{{- $address := dig $name "address" "" $listeners -}}
{{- if or $address (eq $name "metrics") -}}
{{- if not (regexMatch "^(0\\.0\\.0\\.0|\\[::\\])?:[0-9]+$" $address) -}}
{{- fail (printf "gateway: listeners.%s.address is %q: Services and probes need a port on all addresses, such as \":9902\"" $name $address) -}}
{{- end -}}
{{- $_ := set $ports $name (regexFind "[0-9]+$" $address | atoi) -}}
{{- end -}}
{{- end -}}
{{- $replicas := $file.replicas | default 1 | toString -}}
{{- if not (regexMatch "^([2-9]|[1-9][0-9]+)$" $replicas) -}}
{{- fail (printf "gateway: replicas is %s: write how many gateways run, 2 or more" $replicas) -}}
{{- end -}}
{{- if hasPrefix "embedded" ($file.store | default "embedded") -}}
{{- fail "gateway: store is embedded: several gateways need Redis, such as store: \"${file:/run/secrets/sundial/store}\"" -}}
{{- end -}}
{{- $wait := include "sundial.seconds" (list "wait" (dig "drain" "wait" "0s" $file)) | atoi -}}
{{- if lt $wait 5 -}}
{{- fail "gateway: drain.wait is under 5s: endpoints need this long to forget a pod that is not ready" -}}
{{- end -}}
{{- $timeout := include "sundial.seconds" (list "timeout" (dig "drain" "timeout" "30s" $file)) | atoi -}}
{{/* After a drain the process ends within five seconds. */}}
{{- dict "ports" $ports "replicas" (atoi $replicas) "grace" (add $wait $timeout 10) | toJson -}}
{{- end -}}

{{- define "sundial.seconds" -}}
{{- $name := index . 0 -}}{{- $time := index . 1 -}}
{{- if not (regexMatch "^[0-9]+[sm]$" $time) -}}{{- fail (printf "gateway: drain.%s is %s: write seconds or minutes, such as 30s" $name $time) -}}{{- end -}}
{{- mul (regexFind "^[0-9]+" $time | atoi) (ternary 60 1 (hasSuffix "m" $time)) -}}
{{- end -}}

{{- define "sundial.labels" -}}
{ app.kubernetes.io/name: sundial, app.kubernetes.io/instance: {{ .Release.Name }} }
{{- end -}}
