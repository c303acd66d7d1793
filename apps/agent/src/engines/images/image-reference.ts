export interface ImageReference {
  name: string
  tag: string
}

export interface RegistryCredentials {
  /** As the engine names the registry: "registry.example.com:5000", "https://index.docker.io/v1/". */
  serverAddress: string
  username: string
  password: string
}

/** An image as users write it: `alpine`, `registry.example.com:5000/group/app:1`, also with a digest. */
export interface ParsedImage extends ImageReference {
  /** "sha256:..."; set when exactly that image is meant. */
  digest: string | undefined
}

/**
 * Splits a reference (grammar of the distribution specification). A colon before the last slash belongs to a registry's port.
 *
 * @throws Error with a sentence for users
 */
export function parseImage(text: string): ParsedImage {
  const [named = '', digest] = text.trim().split('@')
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const name = colon < 0 ? named : named.slice(0, colon)
  const tag = colon < 0 ? 'latest' : named.slice(colon + 1)
  const registry = /^([a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:\d{1,5})?|\[[0-9a-fA-F:]+\](:\d{1,5})?)$/
  const component = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/
  const parts = name.split('/')
  const path = namesRegistry(parts) ? parts.slice(1) : parts
  const good =
    (path === parts || registry.test(parts[0] ?? '')) &&
    path.length > 0 &&
    path.every((part) => component.test(part)) &&
    /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/.test(tag) &&
    (digest === undefined || /^sha256:[0-9a-f]{64}$/.test(digest)) &&
    !isDigestName(name)
  if (!good) throw new Error(`"${text}" is not the name of an image`)
  return { name, tag, digest }
}

/** The engine interprets `sha256:1f2e...` as the id of any image that it has, including one that another user fetched. */
export const isDigestName = (name: string): boolean => /^sha\d+$/.test(name)

/** A unique key for one image among those of an instance. */
export function imageKey({ name, tag, digest }: ImageReference & { digest?: string | undefined }): string {
  return `${name}:${tag}${digest ? `@${digest}` : ''}`
}

/** The name of a reference, without its tag and digest. */
export function toRepository(reference: string): string {
  return reference.replace(/@.*$/, '').replace(/:[^/:]*$/, '')
}

/** A name as the engine shows it: without Docker Hub's address. */
export function shortImageName(name: string): string {
  return name.replace(/^((index|registry-1)\.)?docker\.io\//i, '').replace(/^library\//, '')
}

/** The registry of an image; Docker Hub has several names. */
export function getRegistry(name: string): string {
  const parts = name.split('/')
  const host = namesRegistry(parts) ? (parts[0] ?? '').toLowerCase() : hub
  return /^(index\.|registry-1\.)?docker\.io$/.test(host) ? hub : host
}

/** The address of an image at its registry: host and port, and the name below it. Docker Hub's registry has another host name than its images. */
export function registryAddress(name: string): { host: string; repository: string } {
  const parts = name.split('/')
  const path = namesRegistry(parts) ? parts.slice(1) : parts
  const host = getRegistry(name)
  if (host !== hub) return { host, repository: path.join('/') }
  return { host: 'registry-1.docker.io', repository: path.length === 1 ? `library/${path[0]}` : path.join('/') }
}

const hub = 'docker.io'

/** The first part is a host when it has a dot or a port, or is localhost. */
function namesRegistry(parts: readonly string[]): boolean {
  const first = parts[0] ?? ''
  return parts.length > 1 && (/[.:]/.test(first) || first === 'localhost')
}
