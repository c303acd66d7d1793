import { randomUUID } from 'node:crypto'
import { CruxError } from '@crux/contract'
import type { StoredInput } from './store.ts'

/** GitHub accepts this much for all inputs of a run: https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#workflow_dispatch */
const charactersMax = 65_535

type GivenInput = { id?: string | undefined; key: string; value: string }

/** @throws CruxError invalidArgument */
export function assertInputSize(inputs: readonly GivenInput[], property: string): void {
  const size = inputs.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  if (size > charactersMax)
    throw new CruxError('invalidArgument', {
      property,
      description: `All inputs together have at most ${charactersMax.toLocaleString('en')} characters.`,
    })
}

export const withIds = (inputs: readonly GivenInput[]): StoredInput[] =>
  inputs.map(({ id, key, value }) => ({ id: id || randomUUID(), key, value }))
