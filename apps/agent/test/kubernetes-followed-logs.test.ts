import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const streamId = 'followed'
const { commands, args } = shell(
  'trap "exit 0" TERM; echo $COLOUR has $PASSWORD; while true; do echo again $PASSWORD; sleep 0.1; done',
)

describe.skipIf(missing)('a log that is followed on Kubernetes', () => {
  let agent: ClusterAgent
  let deploySuccessfully: ReleaseSequence['deploySuccessfully']
  beforeEach(async () => {
    agent = await startClusterAgent()
    ;({ deploySuccessfully } = createReleaseSequence(agent))
  })
  afterEach(() => agent.dispose())

  const toConfig = async (colour: string, secret?: string) => ({
    commands,
    args,
    environment: [{ key: 'COLOUR', value: colour }],
    secrets:
      secret === undefined
        ? []
        : [{ key: 'PASSWORD', required: true, encrypted: true, value: await agent.seal(secret) }],
  })
  const follow = () =>
    agent.server.send({
      case: 'followLog',
      value: { streamId, container: { prefix: agent.owner.prefix, name: 'web' }, take: 100 },
    })
  const texts = () => (agent.server.logLines.get(streamId) ?? []).map(({ text }) => text)
  const awaitText = (text: string) => waitUntil(`"${text}"`, () => texts().includes(text), 30_000)

  test('hides the secrets of releases that come later', async () => {
    await deploySuccessfully(await toConfig('red', 'correct-horse'))
    follow()
    await awaitText('red has ***')
    await deploySuccessfully(await toConfig('blue', 'battery-staple'))
    await awaitText('blue has ***')
    expect(texts().join('\n')).not.toMatch(/correct-horse|battery-staple/)
  })

  test('hides the first secret of a container', async () => {
    await deploySuccessfully(await toConfig('red'))
    follow()
    await awaitText('red has')
    await deploySuccessfully(await toConfig('blue', 'battery-staple'))
    await awaitText('blue has ***')
    expect(texts().join('\n')).not.toContain('battery-staple')
  })

  test('hides a secret that a release removes, also of the pods before it', async () => {
    await deploySuccessfully(await toConfig('red', 'correct-horse'))
    await deploySuccessfully(await toConfig('blue', 'battery-staple'))
    follow()
    await awaitText('blue has ***')
    await deploySuccessfully(await toConfig('green'))
    await awaitText('green has')
    expect(texts().join('\n')).not.toMatch(/correct-horse|battery-staple/)
  })
})
