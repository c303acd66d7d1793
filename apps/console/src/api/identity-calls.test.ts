import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Configuration, FrontendApi } from '@ory/kratos-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { identityCalls } from './identity-calls.ts'

type Seen = { method?: string; path: string; query: [string, string][]; type?: string; accept?: string; body?: unknown }
const seen: Seen[] = []
const recorder = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://recorder')
  const body = await text(request)
  seen.push({
    method: request.method,
    path: pathname,
    query: [...searchParams].sort(([a], [b]) => a.localeCompare(b)),
    type: request.headers['content-type'],
    accept: request.headers.accept,
    ...(body === '' ? {} : { body: JSON.parse(body) }),
  })
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
})
let calls: ReturnType<typeof identityCalls>
let client: FrontendApi
beforeAll(async () => {
  await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve))
  const basePath = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}/kratos`
  calls = identityCalls(basePath)
  client = new FrontendApi(new Configuration({ basePath }))
})
afterAll(() => {
  recorder.closeAllConnections()
  return new Promise((resolve) => recorder.close(resolve))
})

const id = 'a b/ü?&'
const proof = { csrf_token: 'token', method: 'code' as const }
const traits = { email: 'ada@example.com', name: { first: 'Ada' } }

/** Each of our calls with the same call of the client. */
const pairs: Record<string, [ours: () => Promise<unknown>, theirs: () => Promise<unknown>]> = {
  toSession: [() => calls.toSession(), () => client.toSession()],
  createBrowserLoginFlow: [() => calls.createBrowserFlow('login'), () => client.createBrowserLoginFlow()],
  'createBrowserLoginFlow to confirm': [
    () => calls.createBrowserFlow('login', { refresh: 'true', aal: 'aal2', return_to: undefined }),
    () => client.createBrowserLoginFlow({ refresh: true, aal: 'aal2' }),
  ],
  createBrowserRegistrationFlow: [
    () => calls.createBrowserFlow('registration'),
    () => client.createBrowserRegistrationFlow(),
  ],
  createBrowserVerificationFlow: [
    () => calls.createBrowserFlow('verification'),
    () => client.createBrowserVerificationFlow(),
  ],
  createBrowserRecoveryFlow: [() => calls.createBrowserFlow('recovery'), () => client.createBrowserRecoveryFlow()],
  createBrowserSettingsFlow: [() => calls.createBrowserFlow('settings'), () => client.createBrowserSettingsFlow()],
  getLoginFlow: [() => calls.getFlow('login', id), () => client.getLoginFlow({ id })],
  getRegistrationFlow: [() => calls.getFlow('registration', id), () => client.getRegistrationFlow({ id })],
  getVerificationFlow: [() => calls.getFlow('verification', id), () => client.getVerificationFlow({ id })],
  getRecoveryFlow: [() => calls.getFlow('recovery', id), () => client.getRecoveryFlow({ id })],
  getSettingsFlow: [() => calls.getFlow('settings', id), () => client.getSettingsFlow({ id })],
  updateLoginFlow: [
    () => calls.updateFlow('login', id, { ...proof, identifier: 'ada', code: '123456' }),
    () => client.updateLoginFlow({ flow: id, updateLoginFlowBody: { ...proof, identifier: 'ada', code: '123456' } }),
  ],
  updateRegistrationFlow: [
    () => calls.updateFlow('registration', id, { ...proof, traits }),
    () => client.updateRegistrationFlow({ flow: id, updateRegistrationFlowBody: { ...proof, traits } }),
  ],
  updateSettingsFlow: [
    () => calls.updateFlow('settings', id, { method: 'totp', totp_unlink: true }),
    () => client.updateSettingsFlow({ flow: id, updateSettingsFlowBody: { method: 'totp', totp_unlink: true } }),
  ],
  updateVerificationFlow: [
    () => calls.updateFlow('verification', id, { ...proof, email: traits.email }),
    () => client.updateVerificationFlow({ flow: id, updateVerificationFlowBody: { ...proof, email: traits.email } }),
  ],
  updateRecoveryFlow: [
    () => calls.updateFlow('recovery', id, { ...proof, email: traits.email }),
    () => client.updateRecoveryFlow({ flow: id, updateRecoveryFlowBody: { ...proof, email: traits.email } }),
  ],
  getFlowError: [() => calls.getFlowError(id), () => client.getFlowError({ id })],
  listMySessions: [() => calls.listMySessions(250), () => client.listMySessions({ perPage: 250 })],
  disableMySession: [() => calls.disableMySession(id), () => client.disableMySession({ id })],
  disableMyOtherSessions: [() => calls.disableMyOtherSessions(), () => client.disableMyOtherSessions()],
}

describe('calls to the identity service', () => {
  it.each(Object.entries(pairs))('%s sends the same request as the client', async (_name, [ours, theirs]) => {
    seen.length = 0
    await ours()
    await theirs()
    const [sent, expected] = seen
    expect(seen).toHaveLength(2)
    expect(sent?.accept).toBe('application/json')
    expect(expected?.accept).toContain('application/json')
    expect({ ...sent, accept: '' }).toEqual({ ...expected, accept: '' })
  })

  it('are made only in identity-calls.ts', () => {
    const source = new URL('../', import.meta.url)
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
    const others = files.filter((file) =>
      /['"`]\/kratos\/|\/self-service\//.test(readFileSync(new URL(file, source), 'utf8')),
    )
    expect(others.filter((file) => !file.startsWith('api/identity-calls'))).toEqual([])
  })
})
