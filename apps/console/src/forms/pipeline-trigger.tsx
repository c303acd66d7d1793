import type { ResponseOf } from '@crux/contract'
import { ArrowLeft } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { useDenied } from '../api/me.ts'
import { Button } from '../components/Button.tsx'
import { FormSheet } from './FormShell.tsx'
import { PipelineInputList } from './pipeline-input-list.tsx'
import { PipelineInputRows } from './pipeline-input-rows.tsx'
import { getInputFields, InputRows } from './pipeline-input-values.ts'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; pipeline: ResponseOf<'pipelines.get'>; onClose: () => void }

const TriggerValues = z.object({ inputs: InputRows })

/** Starts a run: the inputs first, and what will be sent to confirm it. */
export function PipelineTrigger({ teamSlug, pipeline, onClose }: Props) {
  const { t } = useTranslation('pipelines')
  const { updated } = useFormEnd(onClose)
  const form = useZodForm(TriggerValues, { inputs: pipeline.trigger.inputs })
  const [isConfirming, setConfirming] = useState(false)
  // Only admins decide which inputs there are: the values go into a build with the token of the team.
  const keysDenied = useDenied('pipelines.update')
  const params = { teamSlug, pipelineId: pipeline.id }
  const trigger = useCall('pipelines.trigger', {
    stale: [queryKey('pipelines.runs', { params }), queryKey('pipelines.get', { params }), queryKey('pipelines.list')],
    toast: false,
    onSuccess: () => updated(t('trigger.done', { name: pipeline.name })),
  })
  const stored = pipeline.trigger.inputs
  const { isDirty } = form.formState
  // The page may open with what it knew before: until something is typed, the inputs are those that are stored now.
  useEffect(() => {
    if (!isDirty) form.reset({ inputs: stored })
  }, [stored, isDirty, form])
  const inputs = form.watch('inputs')
  const submit = async () => {
    try {
      await trigger.mutateAsync({ params, body: { inputs } })
    } catch (error) {
      setConfirming(false)
      throw error
    }
  }
  // A rejection keeps the form as it is.
  const askFirst = async () => {
    setConfirming(true)
    throw new Error('The run has to be confirmed')
  }
  const { branch } = pipeline.repository
  const at = { name: pipeline.name, service: t(`type.${pipeline.type}`), branch }
  return (
    <FormSheet
      title={t('trigger.title', { name: pipeline.name })}
      form={form}
      width="wide:w-[520px]"
      call={trigger}
      submitLabel={t(isConfirming ? 'trigger.confirm' : 'trigger.action')}
      fields={getInputFields('inputs', inputs)}
      onClose={onClose}
      onSubmit={isConfirming ? submit : askFirst}
    >
      {isConfirming ? (
        <>
          <p role="status">{t(branch ? 'trigger.question' : 'trigger.questionDefault', at)}</p>
          {inputs.length > 0 && (
            <div className="rounded-box border border-line">
              <PipelineInputList label={t('inputs.title')} inputs={inputs} />
            </div>
          )}
          <Button size="sm" icon={ArrowLeft} className="justify-self-start" onClick={() => setConfirming(false)}>
            {t('trigger.back')}
          </Button>
        </>
      ) : (
        <PipelineInputRows
          help={inputs.length === 0 && keysDenied ? t('trigger.noInputs') : t('trigger.help')}
          rows={inputs}
          onChange={(rows) =>
            form.setValue('inputs', rows, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
          }
          register={(index, part) => form.register(`inputs.${index}.${part}`)}
          errors={form.formState.errors.inputs}
          keysDenied={keysDenied}
        />
      )}
    </FormSheet>
  )
}
