import type { Step } from './steps.ts'

/** Of these kinds, steps that follow each other are about different containers, and none needs what the one before it did. */
const independent: ReadonlySet<Step['kind']> = new Set(['network.join', 'container.rename', 'previous.remove'])

/** The steps in their order, those that are independent of each other together. Previous containers give up their names before new ones take them. */
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
