import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { makePackageKit } from '../../test/package-kit.ts'

let crux: TestServer
let ours: DeployTestEnvironment
beforeAll(async () => {
  crux = await startTestServer()
  ours = await makeDeployTestEnvironment(crux)
})
afterAll(() => crux.stop())

it('the example of docs/packages.md works when it is pasted', async () => {
  const page = await readFile(new URL('../../../../docs/packages.md', import.meta.url), 'utf8')
  const [, script = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? []
  const kit = makePackageKit(ours, ours.client)
  const chain = await kit.chain(['1.0.0'])
  const node = await ours.node()
  const agent = await ours.agent(node)
  const { token } = await kit.call('tokens.create', { body: { name: 'Pipeline', expirationInDays: 1, scope: 'full' } })
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], {
    env: {
      PATH: process.env.PATH,
      CRUX_URL: crux.url,
      TEAM: ours.team.slug,
      CRUX_TOKEN: token,
      PROJECT: chain.projectId,
      VERSION: chain.versions[0],
      NODE: node.id,
    },
  })
  expect(stdout).toContain('"unmatched":[]')
  expect(stdout).toContain('"note":"First try"')
  const [made] = await kit.call('packages.list', { params: ours.params })
  expect(made).toMatchObject({
    name: 'Web shop',
    environments: ['dev', 'prod'],
    versionChains: [{ id: chain.chainId }],
  })
  const board = await kit.call('packages.board', { params: kit.at(made?.id ?? '') })
  expect(stdout).toContain(board.environments[0]?.id)
  expect(board.projects[0]?.cells[0]?.latest).toMatchObject({ version: { name: '1.0.0' }, status: 'in-progress' })
  await agent.command('deploy', 1)
})
