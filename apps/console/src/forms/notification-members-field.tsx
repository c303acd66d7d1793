import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { useController } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../api/client.ts'
import { useTeam } from '../api/me.ts'
import { Checkbox } from '../components/Checkbox.tsx'
import { ErrorState } from '../components/ErrorState.tsx'
import { Field } from '../components/Field.tsx'
import { State } from '../components/State.tsx'
import type { NotificationFormApi } from './notification-values.ts'

type Member = ResponseOf<'teams.get'>['users'][number]

/** The members that get the e-mails. Those who have not accepted their invitation yet cannot be chosen. */
export function NotificationMembersField({ form }: { form: NotificationFormApi }) {
  const { t } = useTranslation('notifications')
  const { id: teamId } = useTeam()
  const query = useQuery(apiQuery('teams.get', { params: { teamId } }))
  const { field, fieldState } = useController({ control: form.control, name: 'memberIds' })
  const chosen = new Set(field.value)
  const set = (id: string, on: boolean) =>
    field.onChange(on ? [...field.value, id] : field.value.filter((each) => each !== id))
  return (
    <Field label={t('form.members')} group help={t('form.membersHelp')} error={fieldState.error?.message}>
      {query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : (
        <div className="max-h-64 overflow-y-auto rounded-md border border-line py-1" aria-busy={query.isPending}>
          {query.data ? (
            query.data.users.map((member) => (
              <MemberLine
                key={member.id}
                member={member}
                checked={chosen.has(member.id)}
                onChange={(on) => set(member.id, on)}
              />
            ))
          ) : (
            <span className="skeleton mx-3 my-2 block h-4 w-48" />
          )}
        </div>
      )}
    </Field>
  )
}

type LineProps = { member: Member; checked: boolean; onChange: (on: boolean) => void }

function MemberLine({ member: { name, email, status }, checked, onChange }: LineProps) {
  const id = useId()
  const isVerified = status === 'verified'
  return (
    <div className="flex items-center gap-2 px-3 py-1.5">
      <Checkbox
        id={id}
        checked={checked}
        onChange={onChange}
        // One that was chosen may be taken out in any case.
        disabled={!isVerified && !checked}
      />
      <label htmlFor={id} className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2">
        <span className="min-w-0 wrap-anywhere">{name}</span>
        <span className="min-w-0 text-ink-2 wrap-anywhere">{email}</span>
      </label>
      {!isVerified && <State kind="member" value={status} />}
    </div>
  )
}
