import { agentLabel, imageUrl, type ScriptValues, scriptUrl, traefikImage } from './install-values.ts'
import { commentText, shellWord } from './shell-quoting.ts'

/**
 * Installs the agent on Linux, macOS or Git Bash, with Docker or Podman. POSIX sh. The whole script is a function that
 * the last line calls, so that an incomplete download runs nothing.
 */
export function shellScript(values: ScriptValues): string {
  return `#!/bin/sh
# Installs the Crux agent for the node ${commentText(values.nodeName)}.
# Variables: ROOTLESS=true (no sudo), PERSISTENCE_FOLDER, CRI_EXECUTABLE, HOST_DOCKER_SOCK_PATH, DOCKER_HOST,
#   ROOT_DOMAIN (exposed containers without a domain get {name}.{prefix}.{ROOT_DOMAIN}),
#   CRUX_INSECURE=true (send the token in plain text to another machine),
#   CRUX_CA_FILE (the authority of the server's certificate as PEM, when it is one of your own)
set -eu

crux_url=${shellWord(values.url)}
crux_node_id=${shellWord(values.nodeId)}
crux_token=${shellWord(values.token)}
script_url=${shellWord(scriptUrl(values))}
image_url=${shellWord(imageUrl(values))}
pull_image=${shellWord(values.agentImage ?? '')}
container_name=${shellWord(values.containerName)}
wanted_folder=${shellWord(values.rootPath ?? '')}
acme_email=${shellWord(values.acmeEmail ?? '')}
plaintext=${shellWord(values.plaintext ? 'true' : '')}
desktop_url=${shellWord(values.desktopUrl ?? '')}
label=${shellWord(`${agentLabel.name}=${agentLabel.value}`)}
${body}
main "$@"
`
}

const body = `
say() { printf '%s\\n' "crux: $*"; }
fail() { printf '%s\\n' "crux: $*" >&2; exit 1; }

download() {
  command -v curl >/dev/null 2>&1 || fail "curl is not installed"
  # Not as an argument: process lists show those to everybody.
  printf 'header = "Authorization: Bearer %s"\\n' "$crux_token" |
    curl -fsSL \${CRUX_CA_FILE:+--cacert "$CRUX_CA_FILE"} --config - -- "$1"
}

detect_platform() {
  case "$(uname -s)" in
    Linux) platform=linux ;;
    Darwin) platform=macos ;;
    MINGW* | MSYS*) platform=windows ;;
    *) fail "$(uname -s) is not supported" ;;
  esac
  # Git Bash would rewrite the paths inside containers.
  export MSYS_NO_PATHCONV=1
  if [ "$platform" = linux ]; then rootless=\${ROOTLESS:-false}; else rootless=\${ROOTLESS:-true}; fi
}

# The script may come through a pipe, so it is fetched again for the other user; the token is still good then.
become_root() {
  if [ "$rootless" = true ] || [ "$(id -u)" = 0 ]; then return 0; fi
  command -v sudo >/dev/null 2>&1 || fail "run this as root, or with ROOTLESS=true for an engine of your own"
  say "asking sudo for the rights to reach the engine"
  copy=$(mktemp)
  trap 'rm -f -- "$copy"' EXIT
  download "$script_url" >"$copy" || fail "the script could not be fetched again"
  sudo env \\
    PERSISTENCE_FOLDER="\${PERSISTENCE_FOLDER:-}" CRI_EXECUTABLE="\${CRI_EXECUTABLE:-}" \\
    HOST_DOCKER_SOCK_PATH="\${HOST_DOCKER_SOCK_PATH:-}" DOCKER_HOST="\${DOCKER_HOST:-}" CRUX_INSECURE="\${CRUX_INSECURE:-}" \\
    CRUX_CA_FILE="\${CRUX_CA_FILE:-}" ROOT_DOMAIN="\${ROOT_DOMAIN:-}" sh "$copy"
  exit $?
}

# An agent inside the virtual machine of Docker Desktop reaches this machine by another name, and never leaves it.
choose_address() {
  insecure=\${CRUX_INSECURE:-}
  if [ -n "$plaintext" ] && [ "$insecure" != true ]; then
    fail "$crux_url would get the token in plain text: put TLS before it, or say that you want this with CRUX_INSECURE=true"
  fi
  agent_url=$crux_url
  if [ "$platform" != linux ] && [ -n "$desktop_url" ]; then
    agent_url=$desktop_url
    insecure=true
  fi
}

check_authority() {
  [ -z "\${CRUX_CA_FILE:-}" ] || [ -r "$CRUX_CA_FILE" ] || fail "CRUX_CA_FILE is $CRUX_CA_FILE, which cannot be read"
}

choose_engine() {
  engine=\${CRI_EXECUTABLE:-}
  if [ -z "$engine" ]; then
    if command -v docker >/dev/null 2>&1; then engine=docker
    elif command -v podman >/dev/null 2>&1; then engine=podman
    else fail "neither docker nor podman is installed: https://docs.docker.com/engine/install/"; fi
  fi
  "$engine" version >/dev/null 2>&1 || fail "$engine does not answer: is it running, and may this user use it?"
  socket=\${HOST_DOCKER_SOCK_PATH:-}
  if [ -z "$socket" ]; then
    case "\${DOCKER_HOST:-}" in
      unix://*) socket=\${DOCKER_HOST#unix://} ;;
      *)
        case "$engine" in
          *podman)
            if [ "$(id -u)" = 0 ]; then socket=/run/podman/podman.sock
            else socket="\${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/podman/podman.sock"; fi ;;
          *) socket=/var/run/docker.sock ;;
        esac ;;
    esac
  fi
  if [ "$platform" = linux ] && [ ! -S "$socket" ]; then
    fail "there is no socket of the engine at $socket: set HOST_DOCKER_SOCK_PATH, or start it (podman: systemctl start podman.socket)"
  fi
}

choose_folder() {
  folder=\${PERSISTENCE_FOLDER:-}
  [ -n "$folder" ] || folder=$wanted_folder
  if [ -z "$folder" ]; then
    if [ "$platform" = linux ] && [ "$rootless" != true ]; then folder=/srv/crux
    elif [ "$platform" = windows ]; then folder=C:/.crux
    else folder=$HOME/.crux-agent; fi
  fi
  case "$folder" in
    [A-Za-z]:/*) [ "$platform" = windows ] || fail "$folder is not an absolute path" ;;
    /*) ;;
    *) fail "$folder is not an absolute path" ;;
  esac
  case "$folder" in *:*:* | *,*) fail "the engine cannot mount $folder: it has a colon or comma" ;; esac
  if [ "$platform" != windows ]; then
    case "$folder" in *:*) fail "the engine cannot mount $folder: it has a colon" ;; esac
  fi
  mkdir -p -- "$folder"
  # Volumes may hold programs that run as their owner: no other user of the machine may reach them.
  [ "$platform" = windows ] || chmod 700 -- "$folder" || fail "$folder cannot be closed to other users: choose a directory of your own"
  host_folder=$folder
  if [ "$platform" = windows ]; then
    drive=$(printf '%s' "$folder" | cut -c1 | tr '[:upper:]' '[:lower:]')
    host_folder=/run/desktop/mnt/host/$drive/$(printf '%s' "$folder" | cut -c4-)
  fi
}

load_image() {
  if [ -n "$pull_image" ]; then
    image=$pull_image
    say "pulling $image"
    "$engine" pull "$image" >/dev/null || fail "$image could not be pulled"
    return 0
  fi
  say "loading the agent's image from $crux_url"
  loaded=$(download "$image_url?architecture=$(uname -m)" | "$engine" load) \\
    || fail "the image could not be loaded: the server says why, or has none for $(uname -m); set CRUX_AGENT_IMAGE there"
  image=$(printf '%s\\n' "$loaded" | sed -n 's/^Loaded image[^:]*: *//p' | tail -n 1)
  [ -n "$image" ] || fail "the engine loaded no image: $loaded"
}

# Only what a script of ours made is removed; anybody else's container of this name is left alone.
make_room() {
  "$engine" container inspect "$1" >/dev/null 2>&1 || return 0
  owner=$("$engine" container inspect --format '{{ index .Config.Labels "dev.crux.service-category" }}' "$1")
  [ "$owner" = _internal ] || fail "a container named $1 exists already and is not the agent's: rename it, or choose another name"
  say "replacing the previous $1"
  "$engine" rm -f "$1" >/dev/null
}

# The agent takes its token from a file and removes it: the engine shows the environment of a container for as long as it lives.
leave_token() {
  token_file=$folder/.agent/install-token
  mkdir -p -- "$folder/.agent"
  chmod 700 "$folder/.agent"
  rm -f -- "$token_file"
  (umask 077 && set -C && printf '%s\\n' "$crux_token" >"$token_file") || fail "$token_file could not be written"
}

# A copy: the container sees only this directory.
leave_authority() {
  rm -f -- "$folder/.agent/ca.pem"
  [ -n "\${CRUX_CA_FILE:-}" ] || return 0
  cp -- "$CRUX_CA_FILE" "$folder/.agent/ca.pem" || fail "$folder/.agent/ca.pem could not be written"
}

start_agent() {
  make_room "$container_name"
  leave_token
  leave_authority
  set -- run --detach --name "$container_name" --restart on-failure --label "$label" \\
    --env "CRUX_URL=$agent_url" --env "CRUX_NODE_ID=$crux_node_id" \\
    --env CRUX_DATA_DIR=/data --env "DATA_MOUNT_PATH=$host_folder" \\
    --volume "$host_folder:/data" --volume "$socket:/var/run/docker.sock"
  [ "$insecure" != true ] || set -- "$@" --env CRUX_INSECURE=true
  [ -z "\${ROOT_DOMAIN:-}" ] || set -- "$@" --env "ROOT_DOMAIN=$ROOT_DOMAIN"
  [ -z "\${CRUX_CA_FILE:-}" ] || set -- "$@" --env NODE_EXTRA_CA_CERTS=/data/.agent/ca.pem
  if [ "$platform" = linux ]; then
    set -- "$@" --network host
    # The agent makes the bridges of its networks keep what they know while a container is replaced.
    [ "$rootless" = true ] || set -- "$@" --volume /proc/sys/net/ipv4/conf:/run/host-net-conf
  else set -- "$@" --add-host host.docker.internal:host-gateway; fi
  case "$engine" in *podman) set -- "$@" --security-opt label=disable ;; esac
  "$engine" "$@" "$image" >/dev/null || { rm -f -- "$token_file"; fail "the agent could not be started"; }
}

start_traefik() {
  [ -n "$acme_email" ] || return 0
  traefik=${shellWord(traefikImage)}
  if ! "$engine" image inspect "$traefik" >/dev/null 2>&1 && ! "$engine" pull "$traefik" >/dev/null 2>&1; then
    say "$traefik could not be pulled: traefik was not started, everything else works without it"
    return 0
  fi
  make_room crux-traefik
  mkdir -p -- "$folder/traefik/letsencrypt" "$folder/traefik/logs"
  "$engine" run --detach --name crux-traefik --restart always --label "$label" --network host \\
    --volume "$socket:/var/run/docker.sock:ro" \\
    --volume "$host_folder/traefik/letsencrypt:/letsencrypt" --volume "$host_folder/traefik/logs:/var/log/traefik" \\
    "$traefik" \\
    --entrypoints.web.address=:80 --entrypoints.websecure.address=:443 \\
    --providers.docker=true --providers.docker.exposedbydefault=false \\
    --log.filepath=/var/log/traefik/traefik.log \\
    --certificatesresolvers.le.acme.httpchallenge=true --certificatesresolvers.le.acme.httpchallenge.entrypoint=web \\
    --certificatesresolvers.le.acme.storage=/letsencrypt/acme.json \\
    "--certificatesresolvers.le.acme.email=$acme_email" >/dev/null \\
    && say "traefik listens on the ports 80 and 443" \\
    || say "traefik could not be started; everything else works without it"
}

main() {
  detect_platform
  check_authority
  become_root
  choose_address
  choose_engine
  choose_folder
  load_image
  start_agent
  start_traefik
  say "the agent runs as $container_name, with its data in $folder"
}
`
