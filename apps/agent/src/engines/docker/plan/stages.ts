import type { Step } from './steps.ts'

/** Consecutive steps of these kinds concern different containers, and none needs the result of the one before. */
const independent: ReadonlySet<Step['kind']> = new Set(['network.join', 'container.rename', 'previous.remove'])

/** Returns the steps in their order, with independent steps grouped. Previous containers give up their names before new ones take them. */
export function stagesOf(steps: readonly Step[]): Step[][] {
  const stages: Step[][] = []
  let last = ''
  for (const step of steps) {
    const key = independent.has(step.kind) ? `${step.kind} ${'target' in step ? step.target.kind : ''}` : ''
    const stage = stages.at(-1)
    if (stage && key !== '' && key === last) stage.push(step)
    else stages.push([step])
    last = key
  }
  return stages
}
