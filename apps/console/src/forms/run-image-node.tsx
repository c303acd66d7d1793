import { nodeTakesDeployments } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryClient, queryKey, useCall } from '../api/client.ts'
import { Button, ButtonLink } from '../components/Button.tsx'
import { Field } from '../components/Field.tsx'
import { State } from '../components/State.tsx'
import { links } from '../routing/links.ts'
import { ChipsField } from './fields.tsx'
import type { RunImageForm } from './use-run-proposal.ts'

/** While the agent of this machine starts. Its first message also arrives on the live channel. */
const refetchIntervalMs = 1_000

type Props = { teamSlug: string; form: RunImageForm }

/** The nodes that take deployments; where there is none, the ways to one. */
export function RunImageNode({ teamSlug, form }: Props) {
  const { t } = useTranslation('run')
  const [startedId, setStartedId] = useState<string>()
  const nodes = useQuery({
    ...apiQuery('nodes.list', { params: { teamSlug } }),
    refetchInterval: ({ state }) =>
      startedId && !state.data?.some(({ id, status }) => id === startedId && status === 'connected')
        ? refetchIntervalMs
        : false,
  })
  const usable = (nodes.data ?? []).filter((node) => nodeTakesDeployments(node).allowed)
  const chosen = usable.find(({ id }) => id === startedId) ?? (usable.length === 1 ? usable[0] : undefined)
  const nodeId = form.watch('nodeId')
  useEffect(() => {
    if (chosen && nodeId === '') form.setValue('nodeId', chosen.id, { shouldValidate: form.formState.isSubmitted })
  }, [chosen, nodeId, form])
  if (nodes.data && usable.length === 0)
    return (
      <NoNode
        teamSlug={teamSlug}
        nodes={nodes.data}
        isStarting={startedId !== undefined}
        onStart={setStartedId}
        error={form.formState.errors.nodeId?.message}
      />
    )
  return (
    <ChipsField
      form={form}
      name="nodeId"
      label={t('node')}
      options={usable.map((node) => ({
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

type NoNodeProps = {
  teamSlug: string
  nodes: readonly { id: string; name: string }[]
  isStarting: boolean
  onStart: (nodeId: string) => void
  error: string | undefined
}

/** "Use this machine" where the server offers it, otherwise the page where a node is connected. */
function NoNode({ teamSlug, nodes, isStarting, onStart, error }: NoNodeProps) {
  const { t } = useTranslation('run')
  const params = { teamSlug }
  const local = useQuery(apiQuery('nodes.local-agent', { params }))
  const start = useCall('nodes.start-local-agent')
  const create = useCall('nodes.create')
  const name = t('thisMachineName')
  const useThisMachine = async () => {
    try {
      const id =
        nodes.find((node) => node.name === name)?.id ?? (await create.mutateAsync({ params, body: { name } })).id
      await start.mutateAsync({ params: { ...params, nodeId: id } })
      onStart(id)
    } catch {
      // A toast shows the error.
    } finally {
      await queryClient.invalidateQueries({ queryKey: queryKey('nodes.list') })
    }
  }
  const busy = isStarting || create.isPending || start.isPending
  return (
    <Field
      label={t('node')}
      group
      error={busy ? undefined : error}
      help={
        busy
          ? t('connecting')
          : create.denied
            ? t('noNode')
            : local.data?.available
              ? t('thisMachineText')
              : t('noNodeAdmin')
      }
    >
      <div>
        {local.data?.available ? (
          <Button busy={busy} disabledReason={create.denied || start.denied} onClick={() => void useThisMachine()}>
            {t('thisMachine')}
          </Button>
        ) : (
          !create.denied && <ButtonLink {...links.nodes(teamSlug, 'new')}>{t('connectNode')}</ButtonLink>
        )}
      </div>
    </Field>
  )
}
