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
# Variables: KUBECTL (the command, also one of several words such as 'k3s kubectl'), CRUX_AGENT_URL (the address at which pods reach Crux),
#   ROOT_DOMAIN (exposed containers without a domain get {name}.{prefix}.{ROOT_DOMAIN}),
#   CRUX_INSECURE=true (send the token in plain text to another machine),
#   CRUX_CA_FILE (the authority of the server's certificate as PEM, when it is one of your own)
set -eu

crux_url=${shellWord(values.url)}
namespace=${shellWord(values.agentNamespace)}
node=${shellWord(values.nodeId)}
namespaces=${shellWord(values.namespaces.join(' '))}
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
exists() { command -v "$1" >/dev/null 2>&1; }
# The path of a program may have spaces; several words are a program with arguments.
kube() { if exists "\${KUBECTL:-kubectl}"; then "\${KUBECTL:-kubectl}" "$@"; else $KUBECTL "$@"; fi; }

check_cluster() {
  exists "\${KUBECTL:-kubectl}" || exists "\${KUBECTL%% *}" || fail "kubectl is not installed: https://kubernetes.io/docs/tasks/tools/"
  kube version >/dev/null 2>&1 || fail "the cluster does not answer: is kubectl's context the right one? (kubectl config current-context)"
  context=$(kube config current-context 2>/dev/null) || context="kubectl's default"
  say "installing on the cluster $context"
}

# A namespace of anybody else keeps its labels and programs, and an agent of another node its token.
check_namespaces() {
  found=$(kube get namespace "$namespace" --ignore-not-found \\
    -o 'jsonpath={.metadata.name}:{.metadata.labels.app\\.kubernetes\\.io/name}') || fail "the namespaces of the cluster cannot be read"
  case "$found" in
    '' | : ) ;;
    "$namespace:crux-agent")
      installed=$(kube get deployment crux-agent --namespace "$namespace" --ignore-not-found \\
        -o 'jsonpath={.spec.template.spec.containers[0].env[?(@.name=="CRUX_NODE_ID")].value}') || fail "the namespace $namespace cannot be read"
      [ -z "$installed" ] || [ "$installed" = "$node" ] || fail "the namespace $namespace has the agent of another node: choose another namespace, or delete this one"
      ;;
    *) fail "the namespace $namespace exists already and is not the agent's: choose another one, or delete it" ;;
  esac
  missing=
  for one in $namespaces; do
    kube get namespace "$one" >/dev/null 2>&1 || missing="$missing $one"
  done
  [ -z "$missing" ] || fail "the agent is for namespaces that do not exist, create them first:$missing"
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
      kube apply -f - >/dev/null || return 1
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
  fail "the agent does not run yet; why: kubectl describe pods --namespace $namespace, and kubectl logs deployment/crux-agent --namespace $namespace"
}

main() {
  check_cluster
  check_namespaces
  choose_address
  namespace_manifest | kube apply -f - >/dev/null || fail "the namespace $namespace could not be made"
  apply_settings || fail "the settings could not be stored in the namespace $namespace"
  agent_manifest | kube apply -f - >/dev/null || fail "the agent could not be installed: kubectl needs the rights of a cluster admin"
  wait_for_agent
}
`
