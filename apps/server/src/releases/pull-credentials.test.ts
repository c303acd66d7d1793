import type { Release } from '@crux/agent-protocol'
import type { BodyInput } from '@crux/contract'
import { type Registry, startRegistry, startTokenRegistry, type TokenRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { githubAccount, startGithub } from '../../test/kit/github.ts'
import { gitlabAccount, startGitlab } from '../../test/kit/gitlab.ts'
import { serviceAccount, startGoogle } from '../../test/kit/google.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { connectClusterAgent } from '../../test/scripted-agent.ts'

type Write = BodyInput<'registries.create'>
type Type = Write['type']

let real: Registry
let gitlab: Awaited<ReturnType<typeof startGitlab>>
let gitlabRegistry: TokenRegistry
let github: Awaited<ReturnType<typeof startGithub>>
let google: Awaited<ReturnType<typeof startGoogle>>
let crux: TestServer
let testEnvironment: DeployTestEnvironment

beforeAll(async () => {
  real = await startRegistry()
  ;[gitlab, gitlabRegistry, github, google] = await Promise.all([
    startGitlab(['company/shop/web']),
    startTokenRegistry(real, { account: gitlabAccount }),
    startGithub({ packages: ['web'], versions: {} }),
    startGoogle(real, { company: { child: ['web'] } }),
  ])
  crux = await startTestServer({
    config: {
      gitlabUrl: gitlab.url,
      gitlabRegistryUrl: `http://${gitlabRegistry.host}`,
      githubApiUrl: github.url,
      googleTokenUrl: google.tokenUrl,
      googleRegistryUrl: google.registryUrl,
    },
  })
  testEnvironment = await makeDeployTestEnvironment(crux)
})
afterAll(async () => {
  await crux.stop()
  await Promise.all([gitlab.stop(), gitlabRegistry.stop(), github.stop(), google.stop(), real.remove()])
})

const registries: Record<Extract<Type, 'gitlab' | 'github' | 'google'>, object> = {
  gitlab: { imageNamePrefix: 'company/shop', namespace: 'project', ...gitlabAccount },
  github: { imageNamePrefix: 'company', namespace: 'organization', ...githubAccount },
  google: { imageNamePrefix: 'company', url: 'eu.gcr.io', public: false, ...serviceAccount },
}

async function createRegistry(type: keyof typeof registries): Promise<string> {
  const body = { name: `Registry ${Math.random()}`, type, details: registries[type] } as Write
  const { id } = await testEnvironment.client.call('registries.create', { params: testEnvironment.params, body })
  return id
}

async function createDeployment(type: keyof typeof registries, image: string) {
  const node = await testEnvironment.node()
  const registryId = await createRegistry(type)
  const version = await testEnvironment.version({ images: [{ name: image, registryId }] })
  return { node, registryId, deployment: await testEnvironment.deployment(version, node.id) }
}

it.each<[keyof typeof registries, string, object]>([
  [
    'gitlab',
    'company/shop/web',
    { server: 'registry.gitlab.com', image: 'registry.gitlab.com/company/shop/web', ...gitlabAccount },
  ],
  ['github', 'web', { server: 'ghcr.io', image: 'ghcr.io/company/web', ...githubAccount }],
  [
    'google',
    'web',
    { server: 'eu.gcr.io', image: 'eu.gcr.io/company/web', user: 'oauth2accesstoken', token: 'ya29.short-lived' },
  ],
])('a release of %s has the reference of the image and the credentials to pull it', async (type, name, expected) => {
  const { node, deployment } = await createDeployment(type, name)
  const agent = await testEnvironment.agent(node)
  await testEnvironment.start(deployment.id)
  const [instance] = ((await agent.command('deploy')).value as Release).instances
  const { serverAddress, username, password } = instance?.registryAuth ?? {}
  expect({ server: serverAddress, image: instance?.imageName, user: username, token: password }).toEqual(expected)
})

it('each release of Google gets an access token of its own, and never the key', async () => {
  const { node, registryId, deployment } = await createDeployment('google', 'web')
  const version = await testEnvironment.version({ images: [{ name: 'web', registryId }] })
  const other = await testEnvironment.deployment(version, node.id, 'other')
  const agent = await testEnvironment.agent(node)
  const before = google.minted.length
  await testEnvironment.start(deployment.id)
  await testEnvironment.start(other.id)
  const releases = [await agent.command('deploy'), await agent.command('deploy', 2)].map(
    ({ value }) => value as Release,
  )
  expect(google.minted).toHaveLength(before + 2)
  expect(JSON.stringify(releases.map(({ instances }) => instances))).not.toContain('PRIVATE KEY')
})

it('releases of Google on a cluster all get the key of the service account, which lasts', async () => {
  const { node, deployment } = await createDeployment('google', 'web')
  const agent = await connectClusterAgent(crux, node)
  const before = google.minted.length
  const credentials: Release['instances'][number]['registryAuth'][] = []
  for (const number of [1, 2]) {
    await testEnvironment.start(deployment.id)
    const release = await deployWell(agent, number)
    credentials.push(release.instances[0]?.registryAuth)
  }
  const [first, second] = credentials
  expect(first).toMatchObject({ serverAddress: 'eu.gcr.io', username: '_json_key' })
  expect(second).toEqual(first)
  expect(JSON.parse(first?.password ?? '')).toEqual({
    type: 'service_account',
    private_key: serviceAccount.token,
    client_email: serviceAccount.user,
    token_uri: google.tokenUrl,
  })
  expect(google.minted).toHaveLength(before)
})

it('a release ends with the reason when Google refuses the key', async () => {
  const { node, registryId, deployment } = await createDeployment('google', 'web')
  await testEnvironment.agent(node)
  // As if the key had been deleted: the account is unknown now.
  await crux.app.database.pool.query(`update crux.registry set "user" = 'gone@example.com' where id = $1`, [registryId])
  await testEnvironment.start(deployment.id)
  const failed = await testEnvironment.waitForStatus(deployment.id, 'failed')
  expect(failed.outcome).toBe('Google refuses the key of this service account.')
})
