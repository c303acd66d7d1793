import { useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { useCall } from '../api/client.ts'
import { FormSheet } from './FormShell.tsx'
import { ChipsField, SelectField, TextAreaField, TextField } from './fields.tsx'
import { FreezeDays } from './freeze-days.tsx'
import { type EnvironmentParams, freezeQueries, type Window } from './freeze-times.ts'
import {
  browserZone,
  FreezeWindowValues,
  fromWindow,
  getFieldNames,
  newWindow,
  timeZones,
  toWrite,
} from './freeze-window-values.ts'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { params: EnvironmentParams; window?: Window; onClose: () => void }

/** Creates a freeze window, or updates the given one. */
export function FreezeWindowForm({ params, window, onClose }: Props) {
  const { t } = useTranslation('freeze')
  const { updated } = useFormEnd(onClose)
  const form = useZodForm(FreezeWindowValues, window ? fromWindow(window) : newWindow())
  const create = useCall('packages.create-freeze-window', {
    stale: freezeQueries,
    onSuccess: () => updated(t('form.created')),
  })
  const update = useCall('packages.update-freeze-window', {
    stale: freezeQueries,
    onSuccess: () => updated(t('form.updated')),
  })
  const kind = useWatch({ control: form.control, name: 'kind' })
  const shell = window
    ? { title: t('form.editTitle'), call: update }
    : { title: t('form.createTitle'), submitLabel: t('form.submit'), call: create }
  const zoneHelp = t('form.zoneHelp', { timeZone: browserZone() })
  return (
    <FormSheet
      {...shell}
      form={form}
      fields={fieldNames[kind]}
      onClose={onClose}
      onSubmit={(values) => {
        const body = toWrite(values)
        return window
          ? update.mutateAsync({ params: { ...params, windowId: window.id }, body })
          : create.mutateAsync({ params, body })
      }}
    >
      <ChipsField
        form={form}
        name="kind"
        label={t('form.kind')}
        options={(['weekly', 'once'] as const).map((value) => ({ value, label: t(`form.${value}`) }))}
      />
      <TextAreaField form={form} name="reason" label={t('form.reason')} help={t('form.reasonHelp')} rows={2} />
      {kind === 'weekly' ? (
        <>
          <FreezeDays form={form} />
          <div className="grid grid-cols-2 gap-3">
            <TextField form={form} name="from" type="time" label={t('form.from')} />
            <TextField form={form} name="to" type="time" label={t('form.to')} help={t('form.toHelp')} />
          </div>
          <SelectField
            form={form}
            name="timeZone"
            label={t('form.timeZone')}
            options={timeZones(window?.kind === 'weekly' ? window.timeZone : browserZone()).map((value) => ({
              value,
              label: value,
            }))}
          />
        </>
      ) : (
        <>
          <TextField form={form} name="startsAt" type="datetime-local" label={t('form.startsAt')} />
          <TextField form={form} name="endsAt" type="datetime-local" label={t('form.endsAt')} help={zoneHelp} />
        </>
      )}
    </FormSheet>
  )
}

const fieldNames = { weekly: getFieldNames('weekly'), once: getFieldNames('once') }
