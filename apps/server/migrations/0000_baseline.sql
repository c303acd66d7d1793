-- Everything down to the last section is what drizzle-kit wrote from src/db/schema, except for these two statements: the journal of
-- migrations has created the schema, and the index of the audit log's filter needs trigrams. pg_trgm is a trusted extension, so the owner of
-- the database may create it.
CREATE SCHEMA IF NOT EXISTS "crux";
--> statement-breakpoint
CREATE EXTENSION IF NOT EXISTS pg_trgm;
--> statement-breakpoint
CREATE TABLE "crux"."config_bundle" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL,
	CONSTRAINT "config_bundle_of_team" UNIQUE("id","team_id")
);
--> statement-breakpoint
CREATE TABLE "crux"."container_config" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"type" text NOT NULL,
	"image_id" uuid,
	"instance_id" uuid,
	"deployment_id" uuid,
	"config_bundle_id" uuid,
	"fields" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"storage_id" uuid GENERATED ALWAYS AS ((fields -> 'storage' ->> 'storageId')::uuid) STORED,
	"revision" integer DEFAULT 1 NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text,
	CONSTRAINT "container_config_imageId_unique" UNIQUE("image_id"),
	CONSTRAINT "container_config_instanceId_unique" UNIQUE("instance_id"),
	CONSTRAINT "container_config_deploymentId_unique" UNIQUE("deployment_id"),
	CONSTRAINT "container_config_configBundleId_unique" UNIQUE("config_bundle_id"),
	CONSTRAINT "container_config_owner" CHECK (num_nonnulls("crux"."container_config"."image_id", "crux"."container_config"."instance_id", "crux"."container_config"."deployment_id", "crux"."container_config"."config_bundle_id") = 1)
);
--> statement-breakpoint
CREATE TABLE "crux"."container_config_change" (
	"config_id" uuid NOT NULL,
	"property" text NOT NULL,
	"revision" integer NOT NULL,
	"updated_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "container_config_change_config_id_property_pk" PRIMARY KEY("config_id","property")
);
--> statement-breakpoint
CREATE TABLE "crux"."container_config_revision" (
	"config_id" uuid NOT NULL,
	"revision" integer NOT NULL,
	"fields" jsonb NOT NULL,
	"changed" text[] NOT NULL,
	"updated_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "container_config_revision_config_id_revision_pk" PRIMARY KEY("config_id","revision")
);
--> statement-breakpoint
CREATE TABLE "crux"."deployment_config_bundle" (
	"deployment_id" uuid NOT NULL,
	"config_bundle_id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	"order" integer NOT NULL,
	CONSTRAINT "deployment_config_bundle_deployment_id_config_bundle_id_pk" PRIMARY KEY("deployment_id","config_bundle_id")
);
--> statement-breakpoint
CREATE TABLE "crux"."storage" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"icon" text,
	"url" text NOT NULL,
	"access_key" text,
	"secret_key" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."danger_confirmation" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"deployment_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"hash" text NOT NULL,
	"subject" jsonb NOT NULL,
	"confirmed_by_id" text NOT NULL,
	"confirmed_by_name" text NOT NULL,
	"confirmed_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."deployment" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"version_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"prefix" text NOT NULL,
	"status" text DEFAULT 'preparing' NOT NULL,
	"protected" boolean DEFAULT false NOT NULL,
	"note" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"deployed_at" timestamp (3) with time zone,
	"deployed_by" text,
	"outcome" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL,
	CONSTRAINT "deployment_of_team" UNIQUE("id","team_id")
);
--> statement-breakpoint
CREATE TABLE "crux"."deployment_count" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"status" text NOT NULL,
	"difference" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."deployment_event" (
	"position" bigserial PRIMARY KEY NOT NULL,
	"deployment_id" uuid NOT NULL,
	"attempt" integer NOT NULL,
	"agent_sequence" bigint,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"type" text NOT NULL,
	"instance_id" text,
	"value" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."instance" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"deployment_id" uuid NOT NULL,
	"image_id" uuid NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."node_image" (
	"node_id" uuid NOT NULL,
	"digest" text NOT NULL,
	"name" text NOT NULL,
	CONSTRAINT "node_image_node_id_digest_name_pk" PRIMARY KEY("node_id","digest","name")
);
--> statement-breakpoint
CREATE TABLE "crux"."release" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"deployment_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"team_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"prefix" text NOT NULL,
	"version_name" text NOT NULL,
	"project_name" text NOT NULL,
	"status" text DEFAULT 'in-progress' NOT NULL,
	"reason" text,
	"recreate" boolean DEFAULT false NOT NULL,
	"partial" boolean DEFAULT false NOT NULL,
	"host_dangerous_allowed" boolean DEFAULT false NOT NULL,
	"source_number" integer,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"started_by_id" text NOT NULL,
	"started_by_name" text NOT NULL,
	"dispatched_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"cancel_requested_by" text,
	"lease_until" timestamp (3) with time zone,
	"acknowledged_sequence" bigint DEFAULT 0 NOT NULL,
	"current" boolean DEFAULT false NOT NULL,
	"container_names" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"events_dropped" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."release_instance" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"release_id" uuid NOT NULL,
	"instance_id" uuid NOT NULL,
	"order" integer NOT NULL,
	"registry_id" uuid,
	"container_name" text NOT NULL,
	"image_name" text NOT NULL,
	"image_tag" text NOT NULL,
	"local_only" boolean DEFAULT false NOT NULL,
	"digest" text,
	"preparation_digests" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"config" jsonb NOT NULL,
	"phase" text,
	"phase_state" text
);
--> statement-breakpoint
CREATE TABLE "crux"."deleted_node" (
	"node_id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"deleted_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."node" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"type" text DEFAULT 'docker' NOT NULL,
	"description" text,
	"icon" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL,
	"address" text,
	"agent_version" text,
	"engine_version" text,
	"operating_system" text,
	"architecture" text,
	"public_key" text,
	"connected_at" timestamp (3) with time zone,
	"disconnected_at" timestamp (3) with time zone,
	"link_server" text,
	"link_session" text,
	"local_agent" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."node_event" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"node_id" uuid NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"event" text NOT NULL,
	"data" jsonb
);
--> statement-breakpoint
CREATE TABLE "crux"."node_install" (
	"node_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"token" text NOT NULL,
	"script_type" text NOT NULL,
	"options" jsonb NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"exchanged_at" timestamp (3) with time zone,
	CONSTRAINT "node_install_tokenHash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "crux"."node_token" (
	"node_id" uuid PRIMARY KEY NOT NULL,
	"hash" text NOT NULL,
	"next_hash" text,
	"next_token" text,
	"exchanged_by" text NOT NULL,
	"used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "node_token_hash_unique" UNIQUE("hash"),
	CONSTRAINT "node_token_nextHash_unique" UNIQUE("next_hash")
);
--> statement-breakpoint
CREATE TABLE "crux"."server_process" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"heartbeat_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."image" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"version_id" uuid NOT NULL,
	"registry_id" uuid NOT NULL,
	"name" text NOT NULL,
	"tag" text,
	"order" integer NOT NULL,
	"labels" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."project" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"type" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."version" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"changelog" text,
	"type" text NOT NULL,
	"default" boolean DEFAULT false NOT NULL,
	"auto_copy_deployments" boolean DEFAULT false NOT NULL,
	"chain_id" uuid,
	"parent_id" uuid,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL,
	CONSTRAINT "version_parentId_unique" UNIQUE("parent_id")
);
--> statement-breakpoint
CREATE TABLE "crux"."audit_count" (
	"team_id" uuid NOT NULL,
	"quarter" timestamp (3) with time zone NOT NULL,
	"accepted" integer NOT NULL,
	"refused" integer NOT NULL,
	CONSTRAINT "audit_count_team_id_quarter_pk" PRIMARY KEY("team_id","quarter")
);
--> statement-breakpoint
CREATE TABLE "crux"."audit_log" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"team_id" uuid NOT NULL,
	"actor_type" text NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"actor_email" text,
	"context" text NOT NULL,
	"method" text,
	"event" text NOT NULL,
	"accepted" boolean DEFAULT true NOT NULL,
	"data" jsonb,
	"search" text GENERATED ALWAYS AS (lower(event || ' ' || actor_name || ' ' || coalesce(actor_email, ''))) STORED
);
--> statement-breakpoint
CREATE TABLE "crux"."invitation" (
	"team_id" uuid NOT NULL,
	"user_id" text NOT NULL,
	"email" text NOT NULL,
	"name" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"invited_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"mailed_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"mail_problem" text,
	"secret_hash" text NOT NULL,
	CONSTRAINT "invitation_team_id_user_id_pk" PRIMARY KEY("team_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "crux"."registry" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"icon" text,
	"type" text NOT NULL,
	"url" text NOT NULL,
	"image_name_prefix" text,
	"public" boolean DEFAULT true NOT NULL,
	"local" boolean DEFAULT false NOT NULL,
	"user" text,
	"token" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."team" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"second_factor_required" boolean DEFAULT false NOT NULL,
	"allowed_domains" text[] DEFAULT '{}' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL,
	CONSTRAINT "team_name_unique" UNIQUE("name"),
	CONSTRAINT "team_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
CREATE TABLE "crux"."team_member" (
	"team_id" uuid NOT NULL,
	"user_id" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "team_member_team_id_user_id_pk" PRIMARY KEY("team_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "crux"."access_token" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"user_id" text,
	"service_account_id" uuid,
	"deployment_id" uuid,
	"registry_id" uuid,
	"team_id" uuid,
	"name" text NOT NULL,
	"hash" text,
	"scope" text NOT NULL,
	"aal" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	CONSTRAINT "access_token_holder" CHECK (num_nonnulls(user_id, service_account_id, deployment_id, registry_id) = 1)
);
--> statement-breakpoint
CREATE TABLE "crux"."rate_limit" (
	"key" text PRIMARY KEY NOT NULL,
	"hits" integer NOT NULL,
	"resets_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."service_account" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"description" text,
	"role" text NOT NULL,
	"deleted_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "crux"."config_bundle" ADD CONSTRAINT "config_bundle_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_image_id_image_id_fk" FOREIGN KEY ("image_id") REFERENCES "crux"."image"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_instance_id_instance_id_fk" FOREIGN KEY ("instance_id") REFERENCES "crux"."instance"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_config_bundle_id_config_bundle_id_fk" FOREIGN KEY ("config_bundle_id") REFERENCES "crux"."config_bundle"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_storage_id_storage_id_fk" FOREIGN KEY ("storage_id") REFERENCES "crux"."storage"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config_change" ADD CONSTRAINT "container_config_change_config_id_container_config_id_fk" FOREIGN KEY ("config_id") REFERENCES "crux"."container_config"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config_revision" ADD CONSTRAINT "container_config_revision_config_id_container_config_id_fk" FOREIGN KEY ("config_id") REFERENCES "crux"."container_config"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment_config_bundle" ADD CONSTRAINT "deployment_config_bundle_deployment" FOREIGN KEY ("deployment_id","team_id") REFERENCES "crux"."deployment"("id","team_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment_config_bundle" ADD CONSTRAINT "deployment_config_bundle_bundle" FOREIGN KEY ("config_bundle_id","team_id") REFERENCES "crux"."config_bundle"("id","team_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."storage" ADD CONSTRAINT "storage_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."danger_confirmation" ADD CONSTRAINT "danger_confirmation_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment" ADD CONSTRAINT "deployment_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment" ADD CONSTRAINT "deployment_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "crux"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment" ADD CONSTRAINT "deployment_version_id_version_id_fk" FOREIGN KEY ("version_id") REFERENCES "crux"."version"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment" ADD CONSTRAINT "deployment_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment_event" ADD CONSTRAINT "deployment_event_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD CONSTRAINT "instance_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD CONSTRAINT "instance_image_id_image_id_fk" FOREIGN KEY ("image_id") REFERENCES "crux"."image"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node_image" ADD CONSTRAINT "node_image_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."release" ADD CONSTRAINT "release_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."release" ADD CONSTRAINT "release_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."release_instance" ADD CONSTRAINT "release_instance_release_id_release_id_fk" FOREIGN KEY ("release_id") REFERENCES "crux"."release"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deleted_node" ADD CONSTRAINT "deleted_node_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node" ADD CONSTRAINT "node_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node_event" ADD CONSTRAINT "node_event_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node_install" ADD CONSTRAINT "node_install_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node_token" ADD CONSTRAINT "node_token_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."image" ADD CONSTRAINT "image_version_id_version_id_fk" FOREIGN KEY ("version_id") REFERENCES "crux"."version"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."image" ADD CONSTRAINT "image_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."project" ADD CONSTRAINT "project_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."version" ADD CONSTRAINT "version_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "crux"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."version" ADD CONSTRAINT "version_parent" FOREIGN KEY ("parent_id") REFERENCES "crux"."version"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."audit_count" ADD CONSTRAINT "audit_count_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."audit_log" ADD CONSTRAINT "audit_log_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."invitation" ADD CONSTRAINT "invitation_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."registry" ADD CONSTRAINT "registry_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."team_member" ADD CONSTRAINT "team_member_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD CONSTRAINT "access_token_service_account_id_service_account_id_fk" FOREIGN KEY ("service_account_id") REFERENCES "crux"."service_account"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD CONSTRAINT "access_token_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD CONSTRAINT "access_token_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."access_token" ADD CONSTRAINT "access_token_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."service_account" ADD CONSTRAINT "service_account_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "config_bundle_name" ON "crux"."config_bundle" USING btree ("team_id","name");--> statement-breakpoint
CREATE INDEX "container_config_storage" ON "crux"."container_config" USING btree ("storage_id");--> statement-breakpoint
CREATE INDEX "deployment_config_bundle_by_bundle" ON "crux"."deployment_config_bundle" USING btree ("config_bundle_id");--> statement-breakpoint
CREATE UNIQUE INDEX "storage_name" ON "crux"."storage" USING btree ("team_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "danger_confirmation_instance" ON "crux"."danger_confirmation" USING btree ("deployment_id","instance_id");--> statement-breakpoint
CREATE INDEX "deployment_newest" ON "crux"."deployment" USING btree ("team_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "deployment_by_status" ON "crux"."deployment" USING btree ("team_id","status","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "deployment_version" ON "crux"."deployment" USING btree ("version_id");--> statement-breakpoint
CREATE INDEX "deployment_project" ON "crux"."deployment" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "deployment_node" ON "crux"."deployment" USING btree ("node_id","created_at" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "deployment_target" ON "crux"."deployment" USING btree ("node_id","prefix","project_id");--> statement-breakpoint
CREATE UNIQUE INDEX "deployment_one_preparing" ON "crux"."deployment" USING btree ("version_id","node_id","prefix") WHERE status = 'preparing';--> statement-breakpoint
CREATE INDEX "deployment_count_team" ON "crux"."deployment_count" USING btree ("team_id");--> statement-breakpoint
CREATE INDEX "deployment_event_order" ON "crux"."deployment_event" USING btree ("deployment_id","attempt","position");--> statement-breakpoint
CREATE UNIQUE INDEX "deployment_event_once" ON "crux"."deployment_event" USING btree ("deployment_id","attempt","agent_sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "instance_image" ON "crux"."instance" USING btree ("deployment_id","image_id");--> statement-breakpoint
CREATE INDEX "instance_by_image" ON "crux"."instance" USING btree ("image_id");--> statement-breakpoint
CREATE UNIQUE INDEX "release_number" ON "crux"."release" USING btree ("deployment_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "release_current" ON "crux"."release" USING btree ("node_id","prefix","project_id") WHERE current;--> statement-breakpoint
CREATE UNIQUE INDEX "release_one_running" ON "crux"."release" USING btree ("deployment_id") WHERE status = 'in-progress';--> statement-breakpoint
CREATE UNIQUE INDEX "release_one_dispatched" ON "crux"."release" USING btree ("node_id","prefix") WHERE status = 'in-progress' and dispatched_at is not null;--> statement-breakpoint
CREATE INDEX "release_target" ON "crux"."release" USING btree ("node_id","prefix","project_id","started_at" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "release_with_events" ON "crux"."release" USING btree ("finished_at","id") WHERE not events_dropped and status <> 'in-progress';--> statement-breakpoint
CREATE INDEX "release_successful" ON "crux"."release" USING btree ("node_id","prefix","project_id","finished_at" DESC NULLS LAST) WHERE status = 'successful';--> statement-breakpoint
CREATE INDEX "release_open" ON "crux"."release" USING btree ("node_id","started_at") WHERE status = 'in-progress';--> statement-breakpoint
CREATE UNIQUE INDEX "release_instance_once" ON "crux"."release_instance" USING btree ("release_id","instance_id");--> statement-breakpoint
CREATE INDEX "deleted_node_newest" ON "crux"."deleted_node" USING btree ("team_id","deleted_at" DESC NULLS FIRST,"node_id" DESC NULLS FIRST);--> statement-breakpoint
CREATE UNIQUE INDEX "node_name" ON "crux"."node" USING btree ("team_id","name");--> statement-breakpoint
CREATE INDEX "node_link" ON "crux"."node" USING btree ("link_server");--> statement-breakpoint
CREATE INDEX "node_event_newest" ON "crux"."node_event" USING btree ("node_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "image_version" ON "crux"."image" USING btree ("version_id","order");--> statement-breakpoint
CREATE INDEX "image_registry" ON "crux"."image" USING btree ("registry_id");--> statement-breakpoint
CREATE UNIQUE INDEX "project_name" ON "crux"."project" USING btree ("team_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "version_name" ON "crux"."version" USING btree ("project_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "version_default" ON "crux"."version" USING btree ("project_id") WHERE "default";--> statement-breakpoint
CREATE INDEX "version_chain" ON "crux"."version" USING btree ("chain_id");--> statement-breakpoint
CREATE INDEX "version_order" ON "crux"."version" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_newest" ON "crux"."audit_log" USING btree ("team_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST,"accepted");--> statement-breakpoint
CREATE INDEX "audit_log_search" ON "crux"."audit_log" USING gin ("search" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "invitation_user" ON "crux"."invitation" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "invitation_email" ON "crux"."invitation" USING btree ("team_id",lower("email"));--> statement-breakpoint
CREATE UNIQUE INDEX "registry_name" ON "crux"."registry" USING btree ("team_id","name");--> statement-breakpoint
CREATE INDEX "team_member_user" ON "crux"."team_member" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_hash" ON "crux"."access_token" USING btree ("hash");--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_user_name" ON "crux"."access_token" USING btree ("user_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_service_account_name" ON "crux"."access_token" USING btree ("service_account_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_deployment_name" ON "crux"."access_token" USING btree ("team_id","name") WHERE deployment_id is not null and hash is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_deployment" ON "crux"."access_token" USING btree ("deployment_id") WHERE hash is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "access_token_registry" ON "crux"."access_token" USING btree ("registry_id");--> statement-breakpoint
CREATE INDEX "access_token_team" ON "crux"."access_token" USING btree ("team_id");--> statement-breakpoint
CREATE INDEX "access_token_of_deployment" ON "crux"."access_token" USING btree ("deployment_id");--> statement-breakpoint
CREATE UNIQUE INDEX "service_account_name" ON "crux"."service_account" USING btree ("team_id","name") WHERE deleted_at is null;--> statement-breakpoint
-- Counts that triggers keep, which Drizzle cannot declare.
CREATE FUNCTION "crux"."count_deployments"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO "crux"."deployment_count" ("team_id", "status", "difference")
    SELECT "team_id", "status", count(*) FROM "inserted" GROUP BY 1, 2;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO "crux"."deployment_count" ("team_id", "status", "difference")
    SELECT "team_id", "status", -count(*) FROM "deleted" GROUP BY 1, 2;
  ELSE
    INSERT INTO "crux"."deployment_count" ("team_id", "status", "difference")
    SELECT "team_id", "status", sum("n") FROM (
      SELECT "team_id", "status", 1 AS "n" FROM "inserted" UNION ALL SELECT "team_id", "status", -1 FROM "deleted") AS "all"
    GROUP BY 1, 2 HAVING sum("n") <> 0;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "deployment_count_insert" AFTER INSERT ON "crux"."deployment" REFERENCING NEW TABLE AS "inserted" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_deployments"();--> statement-breakpoint
CREATE TRIGGER "deployment_count_delete" AFTER DELETE ON "crux"."deployment" REFERENCING OLD TABLE AS "deleted" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_deployments"();--> statement-breakpoint
CREATE TRIGGER "deployment_count_update" AFTER UPDATE ON "crux"."deployment" REFERENCING OLD TABLE AS "deleted" NEW TABLE AS "inserted" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_deployments"();--> statement-breakpoint
CREATE FUNCTION "crux"."quarter_of"(timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN date_bin('15 minutes', $1, '1970-01-01T00:00:00Z');--> statement-breakpoint
CREATE FUNCTION "crux"."count_audit_log"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    -- The rows are written in one order, so that concurrent statements wait for each other and never deadlock.
    INSERT INTO "crux"."audit_count" AS "c" ("team_id", "quarter", "accepted", "refused")
    SELECT "team_id", coalesce("quarter", '-infinity'), count(*) FILTER (WHERE "accepted"), count(*) FILTER (WHERE NOT "accepted")
    FROM (SELECT "team_id", "crux"."quarter_of"("created_at") AS "quarter", "accepted" FROM "inserted") AS "n"
    GROUP BY GROUPING SETS (("team_id", "quarter"), ("team_id")) ORDER BY 1, 2
    ON CONFLICT ("team_id", "quarter") DO UPDATE
    SET "accepted" = "c"."accepted" + excluded."accepted", "refused" = "c"."refused" + excluded."refused";
  ELSE
    -- The total is locked first, as above. When a team is deleted with its entries, its counts are deleted too and nothing is left to update.
    UPDATE "crux"."audit_count" AS "c"
    SET "accepted" = "c"."accepted" - "g"."accepted", "refused" = "c"."refused" - "g"."refused"
    FROM (SELECT "team_id", count(*) FILTER (WHERE "accepted") AS "accepted", count(*) FILTER (WHERE NOT "accepted") AS "refused"
      FROM "deleted" GROUP BY 1 ORDER BY 1) AS "g"
    WHERE "c"."team_id" = "g"."team_id" AND "c"."quarter" = '-infinity';
    UPDATE "crux"."audit_count" AS "c"
    SET "accepted" = "c"."accepted" - "g"."accepted", "refused" = "c"."refused" - "g"."refused"
    FROM (SELECT "team_id", "crux"."quarter_of"("created_at") AS "quarter", count(*) FILTER (WHERE "accepted") AS "accepted",
        count(*) FILTER (WHERE NOT "accepted") AS "refused" FROM "deleted" GROUP BY 1, 2) AS "g"
    WHERE "c"."team_id" = "g"."team_id" AND "c"."quarter" = "g"."quarter";
    DELETE FROM "crux"."audit_count" AS "c"
    USING (SELECT DISTINCT "team_id", "crux"."quarter_of"("created_at") AS "quarter" FROM "deleted") AS "g"
    WHERE "c"."team_id" = "g"."team_id" AND "c"."quarter" = "g"."quarter" AND "c"."accepted" = 0 AND "c"."refused" = 0;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "audit_count_insert" AFTER INSERT ON "crux"."audit_log" REFERENCING NEW TABLE AS "inserted" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_audit_log"();--> statement-breakpoint
CREATE TRIGGER "audit_count_delete" AFTER DELETE ON "crux"."audit_log" REFERENCING OLD TABLE AS "deleted" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_audit_log"();
