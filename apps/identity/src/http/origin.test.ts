import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  adminToken,
  clientAt,
  consoleUrl,
  goodPassword,
  makeEmail,
  proxySecret,
  startTestIdentity,
  type TestIdentity,
} from '../../test/identity.ts'

let identity: TestIdentity
beforeAll(async () => {
  identity = await startTestIdentity()
})
afterAll(() => identity.stop())

/** Sends a Host header that the caller chooses, which fetch does not allow. */
const ask = (base: string, path: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(`${base}${path}`, { headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end()
  })
const getPort = (url: string) => new URL(url).port

describe('the Host header', () => {
  it.each([
    'evil.example',
    'evil.example:8000',
    'localhost.evil.example',
    '127.0.0.1.nip.example',
    'localhost:1',
    '10.0.0.1',
  ])('is answered 421 on both ports when it names %j', async (host) => {
    expect(await ask(identity.publicUrl, '/self-service/login/api', { host })).toBe(421)
    expect(await ask(identity.publicUrl, '/sessions/whoami', { host })).toBe(421)
    expect(await ask(identity.adminUrl, '/admin/identities', { host })).toBe(421)
  })

  it('may contain this machine with the requested port, and the host of CRUX_URL', async () => {
    const port = getPort(identity.publicUrl)
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, new URL(consoleUrl).host])
      expect(await ask(identity.publicUrl, '/self-service/login/api', { host })).toBe(200)
  })

  it('is not checked for requests that the Crux server authenticates, and for liveness probes', async () => {
    const host = 'identity.internal:4433'
    expect(await ask(identity.publicUrl, '/self-service/login/api', { host, 'x-crux-proxy-secret': proxySecret })).toBe(
      200,
    )
    expect(await ask(identity.adminUrl, '/admin/identities', { host, authorization: `Bearer ${adminToken}` })).toBe(200)
    expect(await ask(identity.publicUrl, '/health/ready', { host })).toBe(200)
    expect(await ask(identity.adminUrl, '/admin/health/alive', { host })).toBe(200)
  })

  it('is still checked with a wrong secret or token', async () => {
    const host = 'evil.example'
    const secret = { 'x-crux-proxy-secret': `${proxySecret}x` }
    expect(await ask(identity.publicUrl, '/self-service/login/api', { host, ...secret })).toBe(421)
    expect(await ask(identity.adminUrl, '/admin/identities', { host, authorization: 'Bearer wrong-wrong-wrong' })).toBe(
      421,
    )
  })
})

describe('the address of a client', () => {
  async function addressSeen(headers: Record<string, string>) {
    const { data: flow } = await identity.frontend.createNativeRegistrationFlow()
    const json = { method: 'password', password: goodPassword, traits: { email: makeEmail() } }
    const { json: made } = await identity
      .browser(headers)
      .ask<{ session: { devices: { ip_address: string }[] } }>(`/self-service/registration?flow=${flow.id}`, { json })
    return made.session.devices[0]?.ip_address
  }

  it('is accepted from the Crux server, and from no other process of this machine', async () => {
    expect(await addressSeen(clientAt('203.0.113.5'))).toBe('203.0.113.5')
    expect(await addressSeen({ 'x-forwarded-for': '203.0.113.5' })).toBe('127.0.0.1')
    expect(await addressSeen({ ...clientAt('203.0.113.5'), 'x-crux-proxy-secret': 'guessed-by-somebody' })).toBe(
      '127.0.0.1',
    )
    expect(await addressSeen(clientAt('not an address'))).toBe('127.0.0.1')
  })
})
