import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create } from '@bufbuild/protobuf'
import { ReleaseSchema } from '@crux/agent-protocol'
import { expect, onTestFinished, test } from 'vitest'
import { openFileLogs } from '../state/file-state.ts'
import { openJournals } from './journal.ts'
import { createProgressReporter } from './progress-reporter.ts'

test('a report redacts the values of every call that hides some', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'crux-reports-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const key = { deploymentId: 'reports', number: 1 }
  const journal = openJournals(openFileLogs(directory)).unwritten(create(ReleaseSchema, { key }))
  const progressReporter = createProgressReporter(journal)
  progressReporter.hide(['password-of-web'])
  progressReporter.hide(['password-of-registry'])
  progressReporter.containerLog('web', ['password-of-web, password-of-registry, and nothing else'])
  progressReporter.outcome({ successful: false, reason: 'exit: password-of-web' })
  const reported = JSON.stringify(journal.eventsAfter(0, 10), (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  expect(reported).toContain('***, ***, and nothing else')
  expect(reported).toContain('exit: ***')
  expect(reported).not.toContain('password')
})
