import { readFile } from 'node:fs/promises'
import { containerConfigGroups } from '@crux/contract'
import {
  agentStateRights,
  clusterRights,
  deploymentRights,
  engineEffects,
  type KubernetesRight,
  limitedRights,
} from '@crux/rules'
import { expect, test } from 'vitest'
import { root } from './repository.ts'

/** The rows of the tables of a document, their cells without padding. */
async function readRows(): Promise<string[][]> {
  const text = await readFile(`${root}docs/kubernetes.md`, 'utf8')
  return text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

const toRightRow = ({ apiGroup, reason, resources, verbs }: KubernetesRight): string[] => [
  resources.map((resource) => `\`${resource}\``).join(', '),
  apiGroup === '' ? 'core' : `\`${apiGroup}\``,
  verbs.join(', '),
  reason,
]

test('the document of Kubernetes lists the rights of the agent with their reasons', async () => {
  const rows = await readRows()
  const all = [...clusterRights, ...deploymentRights, ...agentStateRights, ...limitedRights]
  for (const right of all) expect(rows).toContainEqual(toRightRow(right))
  const isRight = (row: string[]) => row.length === 4 && row[0]?.startsWith('`')
  expect(rows.filter(isRight)).toHaveLength(all.length)
})

test('the document of Kubernetes compares what each setting does on both engines', async () => {
  const rows = await readRows()
  const fields = Object.values(containerConfigGroups).flat()
  const expected = fields.map((field) => {
    const { docker, k8s } = engineEffects[field]
    return [`\`${field}\``, docker ?? 'nothing', k8s ?? 'nothing']
  })
  expect(rows.filter((row) => row.length === 3 && row[0]?.startsWith('`'))).toEqual(expected)
})
