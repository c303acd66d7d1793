import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { type AzureDevOps, startAzureDevOps } from '@crux/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { toAzureWrite, usePipelines } from '../../test/kit/pipelines.ts'

let azure: AzureDevOps
let crux: TestServer
beforeAll(async () => {
  azure = await startAzureDevOps({ pipelines: [{ id: 42, name: 'deploy' }] })
  crux = await startTestServer({ config: { azureUrl: azure.url } })
})
afterAll(async () => {
  await crux.stop()
  await azure.stop()
})

it('the command of docs/pipelines.md that triggers a run works when it is pasted', async () => {
  const page = await readFile(new URL('../../../../docs/pipelines.md', import.meta.url), 'utf8')
  const [, script = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? []
  const owner = crux.signUp('Ada')
  const team = await crux.createTeam(owner)
  const ours = usePipelines(crux, owner, team)
  const { id } = await ours.create(
    toAzureWrite(azure, { trigger: { name: 'deploy', inputs: [{ key: 'IMAGE', value: 'shop/web:latest' }] } }),
  )
  const { token } = await crux
    .client(owner)
    .call('tokens.create', { body: { name: 'Trigger', expirationInDays: 1, scope: 'deploy' } })
  const env = { PATH: process.env.PATH, CRUX_URL: crux.url, TEAM: team.slug, CRUX_TOKEN: token, PIPELINE: id }
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', script], { env })
  expect(JSON.parse(stdout)).toMatchObject({
    status: 'queued',
    creatorType: 'user',
    inputs: [{ key: 'IMAGE', value: 'shop/web:1.2.3' }],
  })
})
