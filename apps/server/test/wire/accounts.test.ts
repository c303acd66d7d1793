import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AccountsTestEnvironment, type Browser, startWithAccounts } from '../kit/accounts.ts'

let testEnvironment: AccountsTestEnvironment
let ada: Browser

beforeAll(async () => {
  testEnvironment = await startWithAccounts()
  ada = testEnvironment.makeBrowser()
  await ada.register('ada@example.com', 'an engine of brass')
})
afterAll(() => testEnvironment?.stop())

it('the setting for the first steps is metadata_public.disableOnboarding of the identity', async () => {
  const shown = async () => ({
    session: ((await ada.go('/kratos/sessions/whoami')).body.identity as { metadata_public: unknown }).metadata_public,
    own: ((await ada.me()) as unknown as { onboarding: boolean }).onboarding,
  })
  expect(await shown()).toEqual({ session: null, own: true })
  expect((await ada.go('/api/users/me/preferences/onboarding', undefined, 'DELETE')).status).toBe(204)
  expect((await ada.go('/api/users/me/preferences/onboarding', undefined, 'DELETE')).status).toBe(204)
  expect(await shown()).toEqual({ session: { disableOnboarding: true }, own: false })
  expect((await ada.go('/api/users/me/preferences/onboarding', undefined, 'PUT')).status).toBe(204)
  expect((await ada.go('/api/users/me/preferences/onboarding', undefined, 'PUT')).status).toBe(204)
  expect(await shown()).toEqual({ session: {}, own: true })
})

it('a user who signed in with the code of an invitation answers it before they set a password, and can do nothing else', async () => {
  const teams = await Promise.all(
    ['accepted', 'declined'].map(
      async (slug) => (await ada.go('/api/teams', { name: slug, slug })).body as { id: string },
    ),
  )
  const [accepted = { id: '' }, declined = { id: '' }] = teams
  const email = 'grace@example.com'
  for (const { id } of teams) await ada.go(`/api/teams/${id}/users`, { email, firstName: 'Grace', lastName: 'Hopper' })
  const mail = await testEnvironment.mailTo(email, ({ text }) => text.includes(accepted.id))
  const link = new URL(/^(https?:\S+)$/m.exec(mail.text)?.[1] ?? '')
  // An existing console redeems the code at the identity service and answers the invitation by itself.
  const grace = testEnvironment.makeBrowser()
  const flow = link.searchParams.get('flow') ?? ''
  const begun = (await grace.go(`/kratos/self-service/recovery/flows?id=${flow}`)).body as unknown as {
    ui: { nodes: { attributes: { name?: string; value?: string } }[] }
  }
  const csrf_token = begun.ui.nodes.find(({ attributes }) => attributes.name === 'csrf_token')?.attributes.value
  await grace.go(`/kratos/self-service/recovery?flow=${flow}`, {
    method: 'code',
    code: link.searchParams.get('code'),
    csrf_token,
  })
  const refused = { status: 403, body: { property: 'recovered' } }
  expect(await grace.go('/api/teams')).toMatchObject(refused)
  expect((await grace.go(`/api/users/me/invitations/${accepted.id}`, undefined, 'POST')).status).toBe(204)
  expect((await grace.go(`/api/users/me/invitations/${declined.id}`, undefined, 'DELETE')).status).toBe(204)
  const me = (await grace.go('/api/users/me', undefined, 'POST')).body as { teams: { id: string }[]; invitations: [] }
  expect([me.teams.map(({ id }) => id), me.invitations]).toEqual([[accepted.id], []])
  expect(await grace.go('/api/accepted/projects')).toMatchObject(refused)
  expect(await grace.go('/api/teams', { name: 'Own', slug: 'own' })).toMatchObject(refused)
})
