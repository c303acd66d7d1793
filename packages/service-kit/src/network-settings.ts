import { z } from 'zod'
import { toRange } from './outbound/addresses.ts'

// Network settings that the server and the identity service share.

const list = z.string().transform((text) => text.split(/[\s,]+/).filter((entry) => entry !== ''))
const proxyNames = ['loopback', 'linklocal', 'uniquelocal']

/** The proxies whose `X-Forwarded-For` is trusted: addresses, ranges in CIDR notation, and the names that proxy-addr knows. */
export const trustedProxies = list
  .refine(
    (entries) => entries.every((entry) => proxyNames.includes(entry) || toRange(entry)),
    'must list IP addresses and ranges, separated by commas',
  )
  .meta({ example: '10.0.0.5,10.1.0.0/16' })

/** The private networks that addresses from users may be in. */
export const outboundAllow = list
  .refine(
    (entries) => entries.every((entry) => entry === 'private' || toRange(entry)),
    'must be "private", or list ranges of IP addresses, separated by commas',
  )
  .meta({ example: 'private (or 10.0.0.0/8,192.168.0.0/16)' })
