/** Proposes the name of the next version: the last number of the core counted up (1.4.2 -> 1.4.3); empty where there is none. */
export function nextVersion(name: string): string {
  const match = /^(\D*(?:\d+\.)*)(\d+)$/.exec(name)
  return match ? `${match[1]}${Number(match[2]) + 1}` : ''
}
