/** Whether the host of an address is this machine: localhost, 127.0.0.0/8 or [::1]. */
export function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

/** Whether a listening address is reachable only from this machine. */
export const isLoopbackHost = (host: string): boolean =>
  isLoopbackUrl(`http://${host.includes(':') ? `[${host}]` : host}`)
