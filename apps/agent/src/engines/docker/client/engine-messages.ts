/** What an engine's message means to the user who wrote the configuration. */
type Explanation = readonly [pattern: RegExp, sentence: (...parts: string[]) => string]

/**
 * The messages that a configuration or a full node causes, of Docker 20.10 and later: what happened, to which object, and what to do. The
 * first pattern that matches applies, so a message that contains another one comes before it.
 */
const explanations: readonly Explanation[] = [
  [
    /bind source path does not exist: (.+)$/,
    (path) => `The path ${path} does not exist on the node: create it there, or correct the volume`,
  ],
  [/Duplicate mount point: (.+)$/, (path) => `Two volumes have the path ${path}: give each a path of its own`],
  [
    /invalid mount path: '(.*)' mount path must be absolute/,
    (path) => `The path ${path} of a volume is not absolute: begin it with /`,
  ],
  [
    /error mounting "(.*)" to rootfs at "(.*)": .*not a directory/,
    (source, target) =>
      `${source} of the node cannot be mounted at ${target} of the image: one is a directory and the other a file`,
  ],
  [
    /error mounting ".*" to rootfs at "(.*)": .*cannot be mounted because it is inside \/proc/,
    (target) => `Nothing can be mounted at ${target}, which is inside /proc: choose another path for the volume`,
  ],
  [
    /exec: "(.*?)": (?:executable file not found|stat .*: no such file or directory)/,
    (program) => `The image has no program ${program}: correct the command or the entrypoint`,
  ],
  [
    /exec: "(.*?)": (?:permission denied|is a directory)/,
    (program) => `${program} of the image is not executable: correct the command, or make it executable in the image`,
  ],
  [/exec .*exec format error/, () => "The image is built for another processor than the node's: choose another image"],
  [/working directory '(.*)' is invalid/, (path) => `The working directory ${path} is not absolute: begin it with /`],
  [/unable to find user (.+): no matching/, (user) => `The image has no user ${user}: correct the user`],
  [/unable to find group (.+): no matching/, (group) => `The image has no group ${group}: correct the user`],
  [/unknown capability: "(?:CAP_)?(.*)"/, (name) => `There is no capability ${name}: correct or remove it`],
  [/Minimum memory limit allowed is (\S+)/, (least) => `The memory limit is too low: choose ${least} or more`],
  [
    /memory limit can not be less than memory reservation/i,
    () => 'The memory limit is lower than the memory request: raise the limit, or lower the request',
  ],
  [
    /Range of CPUs is from (\S+) to (\S+),/,
    (least, most) => `The CPU limit does not fit the node: choose one from ${least} to ${most}`,
  ],
  [/container init was OOM-killed/, () => 'The memory limit is too low for the container to start: raise it'],
  [/cannot allocate memory/i, () => 'The node has no memory left: stop something on it, or add memory'],
  [
    /no space left on device/i,
    () => 'No space is left on the disk of the node: free some, for example by removing images that nothing needs',
  ],
  [
    /error setting rlimit/,
    () => 'A ulimit does not fit the node: its soft value may not exceed the hard one, nor that the limit of the node',
  ],
  [
    /(?:logging plugin|log driver) (\S+?): plugin|logging driver "?(\S+?)"? (?:is )?not (?:found|registered)/,
    (name, other) => `Docker has no log driver ${name || other}: choose another`,
  ],
  [
    /unknown log opt '(.*)' for (\S+) log driver/,
    (option, name) => `The log driver ${name} has no option ${option}: remove the option`,
  ],
  [/failed to initialize logging driver/, () => 'The log driver cannot start: check its options'],
  [/bad format for add-host: "(.*)"/, (host) => `"${host}" is no host name with an address: correct the extra host`],
  [/Invalid signal: (.+)$/i, (signal) => `There is no signal ${signal}: correct the stop signal`],
  [
    /no available IPv4 addresses on this network's address pools: (\S+)/,
    (network) => `The network ${network} has no free address: remove containers from it`,
  ],
  [
    /^network (\S+) not found/,
    (network) => `The node has no network ${network}: create it there, or remove it from the configuration`,
  ],
  [
    /listen \w+ (\S+):(\d+): bind: cannot assign requested address/,
    (address, port) => `The node has no address ${address}: publish port ${port} on another one, or on all`,
  ],
  [
    /(?:Bind for |listen \w+ |bind host port (?:for )?)\S*?:(\d+)\b.*(?:already allocated|already in use)/,
    (port) => `Port ${port} is taken on the node: choose another port, or stop what uses it`,
  ],
  [
    /The container name "\/?(.*)" is already in use/,
    (name) => `A container with the name ${name} exists already: choose another name, or remove it`,
  ],
  [/^cannot start a paused container/, () => 'The container is paused: unpause it on the node first'],
  [/^No such image: (.+)$/, (image) => `The node has no image ${image}: deploy again, so that it is pulled`],
  [/^No such container: (.+)$/, (name) => `There is no container ${name}, or no longer`],
]

/** @returns undefined for a message that keeps the engine's own wording */
export function explainMessage(message: string): string | undefined {
  for (const [pattern, sentence] of explanations) {
    const found = pattern.exec(message)
    if (found) return sentence(...found.slice(1).map((part) => part ?? ''))
  }
  return undefined
}

/** Explains the answer of a registry, or of the network in front of it, to the engine's request for an image. */
export function explainRegistryMessage(message: string, image: string): string | undefined {
  return registryExplanations.find(([pattern]) => pattern.test(message))?.[1](image)
}

const registryExplanations: readonly Explanation[] = [
  [
    /x509: /,
    (image) =>
      `Docker does not trust the certificate of the registry of ${image}: install its authority on the node, or list the registry under insecure-registries`,
  ],
  [
    /HTTP response to HTTPS|first record does not look like a TLS handshake/,
    (image) => `The registry of ${image} does not speak TLS: Docker on the node must list it under insecure-registries`,
  ],
  [
    /no such host/,
    (image) => `The node cannot resolve the host name of the registry of ${image}: correct it, or check the node's DNS`,
  ],
  [
    /no matching manifest for (\S+)/,
    (image) => `The image ${image} is not built for the node's processor: choose another tag, or build it for the node`,
  ],
]
