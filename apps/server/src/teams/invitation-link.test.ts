import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { invitationDelivery } from './invitation-link.ts'

let crux: TestServer
let ada: Someone
let team: TestTeam

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'crux-mails-'))
  crux = await startTestServer({ config: { mails: { directory, token: undefined } } })
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada, 'Analytical Engines')
})
afterAll(() => crux.stop())

const invite = (email: string, at = team, as = ada) =>
  crux.client(as).call('teams.invite', { params: { teamId: at.id }, body: { email, firstName: 'Grace' } })

describe('an invitation without a mail server', () => {
  it('gives the inviter a link that opens the account it created, until it was used', async () => {
    const { id, name, invitationLink } = await invite('grace@example.com')
    const link = new URL(invitationLink ?? '')
    expect([link.origin, link.pathname]).toEqual([crux.url, '/auth/create-account'])
    const body = { team: team.id, invitation: link.searchParams.get('invitation') ?? '' }
    expect(await crux.client().call('auth.renew-invitation-code', { body })).toMatchObject({
      code: expect.stringMatching(/^\d{6}$/),
    })
    crux.people.signIn({ id, name, email: 'grace@example.com' })
    await expect(crux.client().call('auth.renew-invitation-code', { body })).rejects.toMatchObject({ status: 412 })
  })

  it('gives no secret for an account that is in use', async () => {
    const { email } = crux.signUp('Charles Babbage')
    expect((await invite(email)).invitationLink).toBe(`${crux.url}/teams/${team.id}/invitation`)
  })

  it('gives no secret for an account that another team has invited', async () => {
    const bob = crux.signUp('Bob')
    const other = await crux.createTeam(bob, 'Others')
    await invite('shared@example.com')
    expect((await invite('shared@example.com', other, bob)).invitationLink).toBe(
      `${crux.url}/teams/${other.id}/invitation`,
    )
  })

  it('gives a new link on request, and only to users who may invite', async () => {
    const { id, invitationLink } = await invite('later@example.com')
    const params = { teamId: team.id, userId: id }
    const again = await crux.client(ada).call('teams.reinvite', { params, query: { link: 'true' } })
    expect(again?.invitationLink).toContain('/auth/create-account?')
    expect(again?.invitationLink).not.toBe(invitationLink)
    const user = await crux.addMember(team, 'user')
    await expect(crux.client(user).call('teams.reinvite', { params, query: { link: 'true' } })).rejects.toMatchObject({
      status: 403,
    })
  })
})

describe('the delivery of invitations', () => {
  it('uses a link only where no other machine can reach Crux', () => {
    const { config } = crux.app
    expect(invitationDelivery(config)).toBe('link')
    expect(invitationDelivery({ ...config, host: '0.0.0.0', url: 'http://192.0.2.7:8000' })).toBe('none')
    expect(invitationDelivery({ ...config, smtpUri: 'smtp://mail.example.com' })).toBe('mail')
  })
})
