import {
  agentObjects,
  authorityFile,
  authorityName,
  namespaceObject,
  settingsName,
  toYaml,
} from './install-manifest.ts'
import type { ClusterValues } from './install-values.ts'
import { commentText, shellWord } from './shell-quoting.ts'

/**
 * Installs the agent on a cluster with kubectl. POSIX sh. The whole script is a function that the last line calls, so that an incomplete
 * download runs nothing.
 */
export function kubernetesScript(values: ClusterValues): string {
  return `#!/bin/sh
# Installs the Crux agent for the node ${commentText(values.nodeName)} on the cluster of kubectl's current context.
# Variables: KUBECTL (the command), CRUX_AGENT_URL (the address at which pods reach Crux),
#   ROOT_DOMAIN (exposed containers without a domain get {name}.{prefix}.{ROOT_DOMAIN}),
#   CRUX_INSECURE=true (send the token in plain text to another machine),
#   CRUX_CA_FILE (the authority of the server's certificate as PEM, when it is one of your own)
set -eu

crux_url=${shellWord(values.url)}
namespace=${shellWord(values.agentNamespace)}
image=${shellWord(values.image)}
pulled=${shellWord(values.imageIsPulled ? 'true' : '')}
plaintext=${shellWord(values.plaintext ? 'true' : '')}
loopback=${shellWord(values.loopback ? 'true' : '')}
settings=${shellWord(settingsName)}
authority=${shellWord(authorityName)}
authority_file=${shellWord(authorityFile)}

namespace_manifest() {
  cat <<'CRUX_MANIFEST'
${toYaml([namespaceObject(values)])}CRUX_MANIFEST
}

agent_manifest() {
  cat <<'CRUX_MANIFEST'
${toYaml(agentObjects(values))}CRUX_MANIFEST
}
${body}
main "$@"
`
}

const body = `
say() { printf '%s\\n' "crux: $*"; }
fail() { printf '%s\\n' "crux: $*" >&2; exit 1; }
kube() { "\${KUBECTL:-kubectl}" "$@"; }

check_cluster() {
  command -v "\${KUBECTL:-kubectl}" >/dev/null 2>&1 || fail "kubectl is not installed: https://kubernetes.io/docs/tasks/tools/"
  kube version >/dev/null 2>&1 || fail "the cluster does not answer: is kubectl's context the right one? (kubectl config current-context)"
  context=$(kube config current-context 2>/dev/null) || context="kubectl's default"
  say "installing on the cluster $context"
}

choose_address() {
  agent_url=$crux_url
  insecure=\${CRUX_INSECURE:-}
  if [ -n "\${CRUX_AGENT_URL:-}" ]; then
    agent_url=$CRUX_AGENT_URL
    case "$agent_url" in https://*) plaintext= ;; http://*) plaintext=true ;; *) fail "CRUX_AGENT_URL starts with https:// or http://" ;; esac
  elif [ -n "$loopback" ]; then
    fail "pods do not reach $crux_url, which is for the server's own machine: set CRUX_AGENT_URL to an address that they reach"
  fi
  if [ -n "$plaintext" ] && [ "$insecure" != true ]; then
    fail "$agent_url would get the token in plain text: put TLS before it, or say that you want this with CRUX_INSECURE=true"
  fi
}

apply_settings() {
  set -- --from-literal="CRUX_URL=$agent_url"
  [ "$insecure" != true ] || set -- "$@" --from-literal=CRUX_INSECURE=true
  [ -z "\${ROOT_DOMAIN:-}" ] || set -- "$@" --from-literal="ROOT_DOMAIN=$ROOT_DOMAIN"
  if [ -n "\${CRUX_CA_FILE:-}" ]; then
    [ -r "$CRUX_CA_FILE" ] || fail "CRUX_CA_FILE is $CRUX_CA_FILE, which cannot be read"
    set -- "$@" --from-literal="NODE_EXTRA_CA_CERTS=$authority_file"
    kube create configmap "$authority" --namespace "$namespace" --from-file="ca.pem=$CRUX_CA_FILE" --dry-run=client -o yaml |
      kube apply -f - >/dev/null
  fi
  kube create configmap "$settings" --namespace "$namespace" "$@" --dry-run=client -o yaml | kube apply -f - >/dev/null
}

wait_for_agent() {
  [ -n "$pulled" ] || say "the cluster's nodes must have the image $image: nothing pulls it"
  if kube rollout status deployment/crux-agent --namespace "$namespace" --timeout=120s >/dev/null 2>&1; then
    say "the agent runs in the namespace $namespace"
    return 0
  fi
  kube get pods --namespace "$namespace" >&2 || true
  fail "the agent does not run yet; why: kubectl describe pods --namespace $namespace"
}

main() {
  check_cluster
  choose_address
  namespace_manifest | kube apply -f - >/dev/null || fail "the namespace $namespace could not be made"
  apply_settings || fail "the settings could not be stored in the namespace $namespace"
  agent_manifest | kube apply -f - >/dev/null || fail "the agent could not be installed: kubectl needs the rights of a cluster admin"
  wait_for_agent
}
`
