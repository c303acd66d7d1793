import type { Someone, TestServer, TestTeam } from './index.ts'
import { until } from './index.ts'

/** Longer than the server waits for a registry. */
const answerMs = 20_000

/** Sends one request over the live channel of registries, and returns the first answer or error. */
export async function askRegistry(
  crux: TestServer,
  someone: Someone,
  team: TestTeam,
  type: 'find-image' | 'fetch-image-tags' | 'fetch-tag-details',
  data: object,
): Promise<unknown> {
  const live = crux.live(someone)
  const channel = live.channel('registries', { teamSlug: team.slug })
  const answers: unknown[] = []
  channel.on('find-image-result', (answer) => void answers.push(answer))
  channel.on('registry-image-tags', (answer) => void answers.push(answer))
  channel.on('registry-tag-details', (answer) => void answers.push(answer))
  live.onError((failure) => void answers.push(failure))
  channel.send(type, data as never)
  const answer = await until(() => answers[0], answerMs)
  live.close()
  return answer
}
