import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listCapturedMails } from '@crux/service-kit/mail'
import type { SettingsFlow } from '@ory/kratos-client'
import { expect, it } from 'vitest'
import { goodPassword, makeEmail, signUp, startTestIdentity, type TestIdentity } from '../../test/identity.ts'

/** Runs `work` with a service that is configured by `settings`. */
async function withIdentity(settings: Record<string, string>, work: (identity: TestIdentity) => Promise<void>) {
  const identity = await startTestIdentity(settings)
  try {
    await work(identity)
  } finally {
    await identity.stop()
  }
}

async function changeAddress(identity: TestIdentity, token: string, email: string) {
  const client = identity.browser({ 'x-session-token': token })
  const { json: flow } = await client.ask<SettingsFlow>('/self-service/settings/api')
  const json = { method: 'profile', traits: { email, name: { first: 'Ada', last: 'Byron' } } }
  expect((await client.ask<SettingsFlow>(`/self-service/settings?flow=${flow.id}`, { json })).json.state).toBe(
    'success',
  )
}

const isVerified = async (identity: TestIdentity, id: string) =>
  (await identity.admin.getIdentity({ id })).data.verifiable_addresses?.map(({ verified }) => verified)

/** Limits can be off only on loopback. */
const limited = { CRUX_RATE_LIMITS: 'on' }

const reachable: [string, Record<string, string>][] = [
  ['CRUX_URL is no loopback address', { CRUX_URL: 'https://crux.example.com', ...limited }],
  ['the server listens beyond loopback', { CRUX_HOST: '0.0.0.0' }],
  ['the service itself listens beyond loopback', { IDENTITY_HOST: '0.0.0.0', ...limited }],
]

it('an address counts as verified while everything listens on loopback and no mail server is configured', () =>
  withIdentity({}, async (identity) => {
    const { id, token } = await signUp(identity)
    expect(await isVerified(identity, id)).toEqual([true])
    await changeAddress(identity, token, makeEmail())
    expect(await isVerified(identity, id)).toEqual([true])
  }))

it.each(reachable)('an address is not verified when %s', (_when, settings) =>
  withIdentity(settings, async (identity) => {
    const { id, token, email } = await signUp(identity)
    expect(await isVerified(identity, id)).toEqual([false])
    await changeAddress(identity, token, makeEmail())
    expect(await isVerified(identity, id)).toEqual([false])
    const { data: imported } = await identity.admin.createIdentity({
      createIdentityBody: { schema_id: 'default', traits: { email } },
    })
    expect(await isVerified(identity, imported.id)).toEqual([false])
    // Addresses cannot be proven here, so signing in does not require it.
    const { data: flow } = await identity.frontend.createNativeLoginFlow()
    const updateLoginFlowBody = {
      method: 'password' as const,
      identifier: (await signUp(identity)).email,
      password: goodPassword,
    }
    expect((await identity.frontend.updateLoginFlow({ flow: flow.id, updateLoginFlowBody })).status).toBe(200)
  }),
)

it.each([...reachable, ['a mail server is set', { SMTP_URI: 'smtp://127.0.0.1:9' }] as const])(
  'assumed verifications are reset, and proven ones kept, once %s',
  async (_when, settings) => {
    const CRUX_SECRET = 'the same for both starts'
    const first = await startTestIdentity({ CRUX_SECRET })
    const assumed = await signUp(first)
    const proven = await signUp(first)
    await first.sql('update identity.verifiable_addresses set assumed = false where identity_id = $1', [proven.id])
    const second = await startTestIdentity({ CRUX_SECRET, DATABASE_URL: first.databaseUrl, ...settings })
    try {
      expect(await isVerified(second, assumed.id)).toEqual([false])
      expect(await isVerified(second, proven.id)).toEqual([true])
    } finally {
      await second.stop()
      await first.stop()
    }
  },
)

it('the operator of a reachable Crux can pass on the code of a captured mail, which proves the address', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'crux-mails-'))
  await withIdentity(
    { CRUX_URL: 'https://crux.example.com', CRUX_MAILS_DIR: directory, ...limited },
    async (identity) => {
      const { id, email } = await signUp(identity)
      const { data: flow } = await identity.frontend.createNativeVerificationFlow()
      const submit = (json: object) => identity.browser().ask(`/self-service/verification?flow=${flow.id}`, { json })
      await submit({ method: 'code', email })
      const mail = () => listCapturedMails(directory).find(({ to, subject }) => to === email && /Verify/.test(subject))
      await expect.poll(mail, { timeout: 10_000 }).toBeDefined()
      await submit({ method: 'code', code: /^(\d{6})$/m.exec(mail()?.text ?? '')?.[1] })
      expect(await isVerified(identity, id)).toEqual([true])
    },
  )
  rmSync(directory, { recursive: true, force: true })
})
