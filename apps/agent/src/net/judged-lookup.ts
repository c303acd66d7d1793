import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { judgeAddress } from '@crux/service-kit'

/** Reserved and link-local addresses, such as a cloud's metadata service, are never a service that files come from. */
const isRefused = (address: string): boolean => isIP(address) !== 0 && judgeAddress(address) === 'never'

/** The address that a host name of a URL is, when it must not be asked. A connection to an address looks nothing up. */
export function findRefusedAddress(hostname: string): string | undefined {
  const address = hostname.replace(/^\[|\]$/g, '')
  return isRefused(address) ? address : undefined
}

/** Looks a name up, and fails when any of its addresses must not be asked. */
export const judgedLookup =
  (toError: (address: string) => Error): LookupFunction =>
  (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, [])
      const [first] = addresses
      const refused = addresses.find(({ address }) => isRefused(address))
      if (refused) return callback(toError(refused.address), [])
      if (options.all || !first) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
