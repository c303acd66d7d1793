/** The address of a registry: `host` with its port; `scheme` only where the user wrote http. */
export type RegistryAddress = { host: string; hostname: string; scheme: 'https' | 'http'; isLoopback: boolean }
export type RegistryUrlResult = { ok: true; address: RegistryAddress } | { ok: false; problem: string }

const bad = (problem: string): RegistryUrlResult => ({ ok: false, problem })

/**
 * Parses the registry address that a user enters: `registry.example.com`, `localhost:5000`, `https://...`, and `http://...` for one without TLS.
 * Paths belong into the prefix, credentials into their own fields.
 */
export function parseRegistryUrl(text: string): RegistryUrlResult {
  const typed = text.trim()
  if (typed === '' || /\s/.test(typed) || typed.startsWith('-'))
    return bad('Write an address such as registry.example.com')
  const schemed = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed)
  const full = schemed ? typed : `https://${typed}`
  if (!URL.canParse(full)) return bad('Write an address such as registry.example.com or localhost:5000')
  const url = new URL(full)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return bad('Only http and https lead to a registry')
  if (url.username || url.password) return bad('Credentials have their own fields')
  if (url.search || url.hash) return bad('An address has no query')
  if (!/^\/(v2\/?)?$/.test(url.pathname)) return bad('A path belongs into the image name prefix')
  if (url.hostname === '') return bad('The name of the machine is missing')
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  return {
    ok: true,
    address: {
      host: url.host,
      hostname,
      scheme: url.protocol === 'http:' ? 'http' : 'https',
      isLoopback: isLoopbackName(hostname),
    },
  }
}

/** The stored and displayed form, without https because it is the default. */
export const registryUrlText = ({ host, scheme }: RegistryAddress): string =>
  scheme === 'http' ? `http://${host}` : host

export const isLoopbackName = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '::1' || /^127(\.\d+){3}$/.test(hostname)

/** Registries whose token service is known to be on another site. */
const knownPairs: Record<string, readonly string[]> = {
  'registry-1.docker.io': ['auth.docker.io'],
  'index.docker.io': ['auth.docker.io'],
  'docker.io': ['auth.docker.io'],
}

/**
 * Whether credentials for a registry may be sent to the host in its answer: its own host, a host of the same site, or a known pair. Otherwise a
 * malicious registry could have the credentials sent to any host.
 */
export function isTrustedRealm(registryHostname: string, realmHostname: string): boolean {
  const [registry, realm] = [registryHostname.toLowerCase(), realmHostname.toLowerCase()]
  if (registry === realm || (isLoopbackName(registry) && isLoopbackName(realm))) return true
  if (knownPairs[registry]?.includes(realm)) return true
  const site = toSite(registry)
  return site !== undefined && (realm === site || realm.endsWith(`.${site}`))
}

/** `registry.example.com` and `auth.example.com` are one site. IP addresses and names like `a.co.uk` are a site of their own. */
function toSite(hostname: string): string | undefined {
  if (hostname.includes(':') || /^[\d.]+$/.test(hostname)) return undefined
  const labels = hostname.split('.')
  const [second = '', top = ''] = labels.slice(-2)
  // Two short labels at the end are probably a public suffix, below which the names belong to different owners.
  const length = top.length === 2 && second.length <= 3 ? 3 : 2
  return labels.length > length || (labels.length === length && length >= 2)
    ? labels.slice(-length).join('.')
    : undefined
}
