import { stripVTControlCharacters } from 'node:util'
import { CruxError, type DeploymentEvent } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { type EventRow, readEventsAfter, toEvent } from './event-store.ts'
import { findAttempts, type ReleaseTitle, readReleaseTitles } from './store.ts'

type LogFile = { name: string; bytes: AsyncIterable<Uint8Array> }

const eventsPerRead = 1_000

/**
 * The events of one release or of all, oldest first, as lines of text. Each page is read after the last event that was
 * written: memory stays bounded, and a slow reader slows the reading down.
 *
 * @throws CruxError notFound `deploymentId`, `try`
 */
export async function openLogFile(
  app: App,
  { team }: Caller,
  deploymentId: string,
  number: number | undefined,
): Promise<LogFile> {
  const { pool } = app.database
  const deployment = await findAttempts(pool, team.id, deploymentId)
  if (number !== undefined && number > deployment.attempts)
    throw new CruxError('notFound', { property: 'try', value: number })
  const read = (after?: EventRow) => readEventsAfter(pool, deploymentId, { try: number, after, take: eventsPerRead })
  // An error before the first byte is answered as a refusal; after it, the stream breaks off.
  const first = await read()
  async function* bytes() {
    const titles = new Map<number, ReleaseTitle>()
    let last = 0
    for (let events = first; events.length > 0; events = await read(events.at(-1))) {
      const attempts = [...new Set(events.map((event) => event.attempt))].filter((one) => !titles.has(one))
      // Events come release by release, so that titles of earlier releases are not needed again.
      if (attempts.length > 0) {
        const newest = titles.get(last)
        titles.clear()
        if (newest) titles.set(last, newest)
        for (const title of await readReleaseTitles(pool, deploymentId, attempts)) titles.set(title.number, title)
      }
      let text = ''
      for (const event of events) {
        const title = titles.get(event.attempt)
        if (event.attempt !== last) text += `${last === 0 ? '' : '\n'}${renderHead(event.attempt, title)}\n`
        last = event.attempt
        text += toLines(toEvent(event), title)
      }
      yield Buffer.from(text)
      if (events.length < eventsPerRead) return
    }
  }
  const which = number === undefined ? 'all' : String(number)
  return { name: `deployment-${deployment.prefix}-${which}.log`, bytes: bytes() }
}

const renderHead = (number: number, title: ReleaseTitle | undefined) =>
  plain(
    title
      ? `# Release ${number}: ${title.title} as ${title.prefix} on ${title.nodeName}, started by ${title.startedByName}`
      : `# Release ${number}`,
  )

/** `2026-11-21T20:01:02.345Z info  web: pulling`; output of a container is marked to tell it from our own lines. */
function toLines(event: DeploymentEvent, title: ReleaseTitle | undefined): string {
  const getName = (id: string | null | undefined) => (id ? `${title?.names[id] ?? id}: ` : '')
  const write = (level: string, id: string | null | undefined, text: string) =>
    text
      .split(/\r\n|[\r\n]/)
      .map((line) => `${event.createdAt} ${level.padEnd(5)} ${plain(getName(id) + line)}\n`)
      .join('')
  const { log, deploymentStatus, reason, containerState, containerProgress, phase } = event
  if (log)
    return log.log.map((line) => write(log.level, event.instanceId, `${log.fromContainer ? '| ' : ''}${line}`)).join('')
  if (deploymentStatus)
    return write(
      deploymentStatus === 'failed' ? 'error' : 'info',
      null,
      [deploymentStatus, reason].filter(Boolean).join(': '),
    )
  if (containerState)
    return write(
      'info',
      containerState.instanceId,
      `is ${[containerState.state ?? 'unknown', containerState.reason].filter(Boolean).join(': ')}`,
    )
  if (containerProgress)
    return write(
      'info',
      containerProgress.instanceId,
      `${containerProgress.status} ${Math.round(containerProgress.progress * 100)} %`,
    )
  if (phase)
    return write(
      phase.state === 'failed' ? 'error' : 'info',
      phase.instanceId,
      `${phase.phase} ${phase.state}${phase.detail ? `, ${phase.detail}` : ''}`,
    )
  return ''
}

/** Removes control sequences, so that output of a container cannot control the terminal that shows the file. */
const plain = (text: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what goes
  stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
