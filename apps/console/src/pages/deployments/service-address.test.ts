import { describe, expect, it } from 'vitest'
import { nodeHost, serviceAddresses } from './service-address.ts'

const port = (internal: number, external: number | null, protocol = 'tcp') => ({ internal, external, protocol })

describe('nodeHost', () => {
  it('uses the host of the page for a node on the machine of the server', () => {
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', 'localhost'])
      expect(nodeHost(address, 'crux.example.com')).toBe('crux.example.com')
  })
  it('uses the address of a node on another machine', () => {
    expect(nodeHost('203.0.113.7', 'crux.example.com')).toBe('203.0.113.7')
    expect(nodeHost('2001:db8::7', 'crux.example.com')).toBe('[2001:db8::7]')
  })
  it('returns null for a node that never connected', () => {
    expect(nodeHost(null, 'crux.example.com')).toBeNull()
  })
})

describe('serviceAddresses', () => {
  it('lists published TCP ports, with https for TLS ports', () => {
    const ports = [port(8080, 18_311), port(443, 8443), port(80, 80), port(9000, null), port(53, 53, 'udp')]
    expect(serviceAddresses({ ports, labels: {} }, 'localhost').map(({ url }) => url)).toEqual([
      'http://localhost:18311',
      'https://localhost:8443',
      'http://localhost',
    ])
  })
  it('marks the address of a database as one to copy, not to open', () => {
    expect(serviceAddresses({ ports: [port(5432, 5433)], labels: {} }, 'db.example.com')).toEqual([
      { url: 'db.example.com:5433', label: ':5433', open: false },
    ])
  })
  it('lists routed host names first', () => {
    const labels = {
      'traefik.enable': 'true',
      'traefik.http.routers.shop.rule': 'Host(`shop.example.com`) && PathPrefix(`/api`)',
      'traefik.http.routers.shop.entrypoints': 'web',
      'traefik.http.routers.shop-secure.rule': 'Host(`shop.example.com`) && PathPrefix(`/api`)',
      'traefik.http.routers.shop-secure.entrypoints': 'websecure',
    }
    expect(serviceAddresses({ ports: [port(80, 8080)], labels }, 'localhost').map(({ url }) => url)).toEqual([
      'https://shop.example.com/api',
      'http://localhost:8080',
    ])
  })

  it('lists the addresses of an ingress, and makes no link of anything else that an agent says', () => {
    const labels = {
      'dev.crux.routes': 'https://shop.example.com/api http://www.example.com javascript:alert(1) https:///x',
    }
    expect(serviceAddresses({ ports: [], labels }, null)).toEqual([
      { url: 'https://shop.example.com/api', label: 'shop.example.com/api', open: true },
      { url: 'http://www.example.com', label: 'www.example.com', open: true },
    ])
  })
})
