import { randomUUID } from 'node:crypto'
import type { ContainerConfigFields } from '@crux/contract'
import { applyLabelRules, fillRowIds, type LabelRule, labelRules, newProblems, validateConfig } from '@crux/rules'

type Labels = Readonly<Record<string, string>>

/**
 * An image's layer with the settings that the labels of its image require. The image's author wrote the labels: a rule
 * that would make the layer invalid is left out, so that no label prevents adding an image or changing its tag.
 *
 * @returns the same object when nothing is to be added
 */
export function withLabelRules(fields: ContainerConfigFields, labels: Labels): ContainerConfigFields {
  const { rules } = labelRules(labels)
  const apply = (some: readonly LabelRule[]) => fillRowIds(applyLabelRules(fields, some), fields, randomUUID)
  const after = apply(rules)
  if (applyLabelRules(fields, rules) === fields) return fields
  const before = validateConfig(fields)
  const spoils = (one: ContainerConfigFields) => newProblems(before, validateConfig(one)).length > 0
  if (!spoils(after)) return after
  const harmless = apply(rules.filter((rule) => !spoils(apply([rule]))))
  return spoils(harmless) ? fields : harmless
}

/** The same as a patch; empty when nothing is to be added. */
export function labelPatch(before: ContainerConfigFields, labels: Labels | undefined): Partial<ContainerConfigFields> {
  const after = labels ? withLabelRules(before, labels) : before
  if (after === before) return {}
  const { environment, secrets } = after
  return { ...(environment && { environment }), ...(secrets && { secrets }) }
}
