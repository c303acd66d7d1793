import { limits, PipelineInput } from '@crux/contract'
import i18n from 'i18next'
import { z } from 'zod'

/** The rows of inputs of a form; their keys are unique. */
export const InputRows = z
  .array(
    PipelineInput.extend({
      key: PipelineInput.shape.key.refine((key) => !/\s/.test(key), {
        error: () => i18n.t('pipelines:inputs.noSpaces'),
      }),
    }),
  )
  .max(limits.pipelineInputs)
  .superRefine((rows, context) => {
    for (const [index, { key }] of rows.entries())
      if (rows.findIndex((row) => row.key === key) < index)
        context.addIssue({ code: 'custom', path: [index, 'key'], message: i18n.t('pipelines:inputs.twice') })
  })
export type InputRow = z.input<typeof InputRows>[number]

/** The fields of the rows for the properties that the server names: `trigger.inputs[0].key`. */
export const getInputFields = (property: string, rows: readonly unknown[]): Record<string, string> =>
  Object.fromEntries(
    rows.flatMap((_, index) => [
      [`${property}[${index}]`, `inputs.${index}.key`],
      ...['key', 'value'].map((part) => [`${property}[${index}].${part}`, `inputs.${index}.${part}`]),
    ]),
  )
