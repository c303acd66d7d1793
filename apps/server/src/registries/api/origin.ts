import type { RegistryAddress } from '@crux/rules'
import { type Outbound, OutboundError, type OutboundRequest, type OutboundResponse } from '@crux/service-kit'

/** The server at an address that a user entered, whose use of https is detected once. */
export function createOrigin(outbound: Outbound, address: RegistryAddress) {
  let scheme: 'https' | 'http' | undefined = address.scheme === 'http' ? 'http' : undefined

  return {
    host: address.host,
    hostname: address.hostname,
    get isPlain() {
      return scheme === 'http'
    },
    /** Tries https first; a server on loopback may use http instead. */
    async request(path: string, request: OutboundRequest): Promise<OutboundResponse> {
      if (scheme) return outbound.request(`${scheme}://${address.host}${path}`, request)
      try {
        const response = await outbound.request(`https://${address.host}${path}`, request)
        scheme = 'https'
        return response
      } catch (error) {
        const speaksPlain =
          error instanceof OutboundError &&
          (error.code === 'tls' || error.code === 'protocol' || error.code === 'unreachable')
        if (!address.isLoopback || !speaksPlain) throw error
        const response = await outbound.request(`http://${address.host}${path}`, request)
        scheme = 'http'
        return response
      }
    },
  }
}
