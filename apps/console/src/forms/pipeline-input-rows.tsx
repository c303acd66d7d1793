import { limits } from '@crux/contract'
import { Plus, X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import type { FieldErrors, UseFormRegisterReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../components/Button.tsx'
import { Field, FieldError, TextArea, TextInput } from '../components/Field.tsx'
import type { InputRow } from './pipeline-input-values.ts'

type Props = {
  help: ReactNode
  rows: readonly InputRow[]
  onChange: (rows: InputRow[]) => void
  register: (index: number, part: 'key' | 'value') => UseFormRegisterReturn
  errors: FieldErrors<{ inputs: InputRow[] }>['inputs']
  /** Why the keys cannot be changed; their values can. */
  keysDenied?: string | null
  /** Texts that a button puts at the caret of a value. */
  placeholders?: readonly { label: string; text: string /** from its start */; caret: number }[]
}

/** The inputs of a pipeline, a run or an event watcher: a key and a value in each row. */
export function PipelineInputRows({ help, rows, onChange, register, errors, keysDenied, placeholders }: Props) {
  const { t } = useTranslation('pipelines')
  const list = useRef<HTMLFieldSetElement>(null)
  const lastValue = useRef(0)
  const add = (value = '') => onChange([...rows, { key: '', value }])
  const insert = (text: string, caret: number) => {
    const index = Math.min(lastValue.current, rows.length - 1)
    const row = rows[index]
    if (!row) return add(text)
    const area = list.current?.querySelectorAll('textarea')[index]
    const at = area?.selectionStart ?? row.value.length
    const value = row.value.slice(0, at) + text + row.value.slice(area?.selectionEnd ?? at)
    onChange(rows.map((one, position) => (position === index ? { ...one, value } : one)))
    // After the form has put the new value into the field, which moves the caret to its end.
    requestAnimationFrame(() => {
      area?.focus()
      area?.setSelectionRange(at + caret, at + caret)
    })
  }
  const isFull = rows.length >= limits.pipelineInputs && t('inputs.full', { count: limits.pipelineInputs })
  const listError = errors?.root?.message ?? (typeof errors?.message === 'string' ? errors.message : undefined)
  return (
    <fieldset ref={list} className="grid min-w-0 gap-2">
      <legend className="mb-1 font-strong">{t('inputs.title')}</legend>
      <p className="text-small text-ink-2">{help}</p>
      {rows.map((row, index) => (
        <div key={index} className="grid grid-cols-[minmax(0,1fr)_minmax(0,1.5fr)_28px] items-start gap-2">
          <Field label={t('inputs.key')} error={errors?.[index]?.key?.message}>
            <TextInput {...register(index, 'key')} mono readOnly={Boolean(keysDenied)} autoComplete="off" />
          </Field>
          <Field label={t('inputs.value')} error={errors?.[index]?.value?.message}>
            <TextArea
              {...register(index, 'value')}
              mono
              rows={1}
              className="field-sizing-content max-h-40 min-h-[30px]"
              spellCheck={false}
              autoComplete="off"
              onFocus={() => {
                lastValue.current = index
              }}
            />
          </Field>
          <IconButton
            icon={X}
            label={t('inputs.remove', { key: row.key || index + 1 })}
            className="mt-[25px]"
            disabledReason={keysDenied}
            onClick={() => onChange(rows.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      {listError && <FieldError>{listError}</FieldError>}
      <div className="flex flex-wrap items-center gap-2">
        <Button size="sm" icon={Plus} disabledReason={keysDenied ?? isFull} onClick={() => add()}>
          {t('inputs.add')}
        </Button>
        {placeholders && (
          <div className="flex flex-wrap items-center gap-2 wide:ml-auto">
            <span className="text-small text-ink-2">{t('inputs.insert')}</span>
            {placeholders.map(({ label, text, caret }) => (
              <Button
                key={label}
                size="sm"
                className="mono"
                aria-label={t('inputs.insertOne', { placeholder: label })}
                onClick={() => insert(text, caret)}
              >
                {label}
              </Button>
            ))}
          </div>
        )}
      </div>
    </fieldset>
  )
}
