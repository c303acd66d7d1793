import { readFileSync } from 'node:fs'
import { ContainerConfigFields } from '@crux/contract'
import { computedJudgements, fieldJudgements, hostDangers, type OptionJudgement } from '@crux/rules'
import { describe, expect, test } from 'vitest'

const page = readFileSync(new URL('../docs/security.md', import.meta.url), 'utf8')
const rows = [
  ...Object.entries(fieldJudgements).map(([field, judgement]) => toRow(`\`${field}\``, judgement)),
  ...Object.entries(computedJudgements).map(([what, judgement]) => toRow(what, judgement)),
]

function toRow(name: string, { engine, verdict, why }: OptionJudgement): string[] {
  const options = engine.map((option) => `\`${option.replace('HostConfig.', '')}\``).join(' ')
  return [name, options, verdict === 'safe' ? 'yes' : 'in part', why]
}

const cells = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** Values that only an admin may set. Each judged field has one here or in the tests of its own rule. */
const dangerous: ContainerConfigFields = {
  networkMode: 'host',
  volumes: [{ name: '/srv', path: '/srv' }],
  configContainer: { image: 'app', volume: '/srv', path: '/', keepFiles: true },
  storage: { storageId: '0199f0e0-0000-7000-8000-000000000001', bucket: 'b', path: '/srv' },
  initContainers: [{ name: 'a', image: 'app', useParentConfig: false, volumes: [{ name: '/srv', path: '/d' }] }],
  capabilities: [{ key: 'SYS_ADMIN', value: 'add' }],
  ulimits: [{ key: 'memlock', soft: -1, hard: -1 }],
  shmSize: '8Gi',
  logConfig: { driver: 'syslog' },
  networks: [{ key: 'engine:db' }],
  dockerLabels: [{ key: 'traefik.enable', value: 'true' }],
  environment: [{ key: 'VIRTUAL_HOST', value: 'example.com' }],
  secrets: [{ key: 'VIRTUAL_HOST', required: false }],
}

describe('the judgement of each setting', () => {
  test('exists for every field of a configuration and for no other', () => {
    expect(Object.keys(fieldJudgements).toSorted()).toEqual(Object.keys(ContainerConfigFields.shape).toSorted())
  })

  test('is shown on the page about security with the same reason', () => {
    const shown = page
      .slice(page.indexOf('\n## Options of Docker\n'))
      .split('\n')
      .filter((line) => /^\| (`\w+`|image and tag|names on)/.test(line))
      .map(cells)
    expect(shown).toEqual(rows)
  })

  test('marks a field as judged exactly if one of its values is host-dangerous', () => {
    const found = new Set(hostDangers(dangerous).map(({ property }) => property.replace(/[.[].*$/, '')))
    const judged = Object.entries(fieldJudgements).flatMap(([field, { verdict }]) =>
      verdict === 'judged' ? [field] : [],
    )
    expect([...found].toSorted()).toEqual(judged.toSorted())
  })
})
