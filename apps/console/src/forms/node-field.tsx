import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { FieldValues, Path, PathValue, UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../api/client.ts'
import { State } from '../components/State.tsx'
import { ChipsField } from './fields.tsx'

type Props<V extends FieldValues, Out> = {
  form: UseFormReturn<V, unknown, Out>
  name: Path<V>
  teamSlug: string
  label?: string
  disabled?: boolean
}

/** The nodes of the team with their states; a single one is chosen already. */
export function NodeField<V extends FieldValues, Out>({ form, name, teamSlug, label, disabled }: Props<V, Out>) {
  const { t } = useTranslation(['deployments', 'common'])
  const nodes = useQuery(apiQuery('nodes.list', { params: { teamSlug } }))
  const only = nodes.data?.length === 1 ? nodes.data[0]?.id : undefined
  const value: string = form.watch(name)
  useEffect(() => {
    // The field holds an id; its form's type cannot be known here.
    if (only && value === '') form.setValue(name, only as PathValue<V, Path<V>>)
  }, [only, value, form, name])
  return (
    <ChipsField
      form={form}
      name={name}
      label={label ?? t('create.node')}
      disabled={disabled}
      help={nodes.data?.length === 0 ? t('create.noNode') : undefined}
      options={(nodes.data ?? []).map((node) => ({
        value: node.id,
        label: (
          <>
            <State kind="node" value={node.status} compact />
            {node.name}
          </>
        ),
      }))}
    />
  )
}
