CREATE SCHEMA IF NOT EXISTS "crux";
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
	"tries" integer DEFAULT 0 NOT NULL,
	"deployed_at" timestamp (3) with time zone,
	"deployed_by" text,
	"outcome" text,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "crux"."deployment_event" (
	"position" bigserial PRIMARY KEY NOT NULL,
	"deployment_id" uuid NOT NULL,
	"try" integer NOT NULL,
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
	"handed_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone,
	"cancel_requested_by" text,
	"lease_until" timestamp (3) with time zone,
	"acknowledged_sequence" bigint DEFAULT 0 NOT NULL,
	"standing" boolean DEFAULT false NOT NULL,
	"container_names" jsonb DEFAULT '[]'::jsonb NOT NULL
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
	"config" jsonb NOT NULL,
	"phase" text,
	"phase_state" text
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
	"exchanged_by" text NOT NULL,
	"used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"created_by" text NOT NULL,
	CONSTRAINT "node_token_hash_unique" UNIQUE("hash"),
	CONSTRAINT "node_token_nextHash_unique" UNIQUE("next_hash")
);
--> statement-breakpoint
CREATE TABLE "crux"."container_config" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"type" text NOT NULL,
	"image_id" uuid,
	"instance_id" uuid,
	"deployment_id" uuid,
	"fields" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"revision" integer DEFAULT 1 NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"updated_by" text,
	CONSTRAINT "container_config_imageId_unique" UNIQUE("image_id"),
	CONSTRAINT "container_config_instanceId_unique" UNIQUE("instance_id"),
	CONSTRAINT "container_config_deploymentId_unique" UNIQUE("deployment_id"),
	CONSTRAINT "container_config_owner" CHECK (num_nonnulls("crux"."container_config"."image_id", "crux"."container_config"."instance_id", "crux"."container_config"."deployment_id") = 1)
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
CREATE TABLE "crux"."audit_log" (
	"id" uuid PRIMARY KEY DEFAULT uuidv7() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"team_id" uuid NOT NULL,
	"actor_type" text NOT NULL,
	"actor_id" text NOT NULL,
	"actor_name" text NOT NULL,
	"context" text NOT NULL,
	"method" text,
	"event" text NOT NULL,
	"accepted" boolean DEFAULT true NOT NULL,
	"data" jsonb
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
CREATE TABLE "crux"."user_preference" (
	"user_id" text PRIMARY KEY NOT NULL,
	"onboarding" boolean DEFAULT true NOT NULL
);
--> statement-breakpoint
ALTER TABLE "crux"."deployment" ADD CONSTRAINT "deployment_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment" ADD CONSTRAINT "deployment_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "crux"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment" ADD CONSTRAINT "deployment_version_id_version_id_fk" FOREIGN KEY ("version_id") REFERENCES "crux"."version"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment" ADD CONSTRAINT "deployment_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."deployment_event" ADD CONSTRAINT "deployment_event_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD CONSTRAINT "instance_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."instance" ADD CONSTRAINT "instance_image_id_image_id_fk" FOREIGN KEY ("image_id") REFERENCES "crux"."image"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."release" ADD CONSTRAINT "release_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."release" ADD CONSTRAINT "release_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."release_instance" ADD CONSTRAINT "release_instance_release_id_release_id_fk" FOREIGN KEY ("release_id") REFERENCES "crux"."release"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node" ADD CONSTRAINT "node_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node_event" ADD CONSTRAINT "node_event_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node_install" ADD CONSTRAINT "node_install_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."node_token" ADD CONSTRAINT "node_token_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_image_id_image_id_fk" FOREIGN KEY ("image_id") REFERENCES "crux"."image"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_instance_id_instance_id_fk" FOREIGN KEY ("instance_id") REFERENCES "crux"."instance"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config" ADD CONSTRAINT "container_config_deployment_id_deployment_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "crux"."deployment"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."container_config_change" ADD CONSTRAINT "container_config_change_config_id_container_config_id_fk" FOREIGN KEY ("config_id") REFERENCES "crux"."container_config"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."image" ADD CONSTRAINT "image_version_id_version_id_fk" FOREIGN KEY ("version_id") REFERENCES "crux"."version"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."image" ADD CONSTRAINT "image_registry_id_registry_id_fk" FOREIGN KEY ("registry_id") REFERENCES "crux"."registry"("id") ON DELETE restrict ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."project" ADD CONSTRAINT "project_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."version" ADD CONSTRAINT "version_project_id_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "crux"."project"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."version" ADD CONSTRAINT "version_parent" FOREIGN KEY ("parent_id") REFERENCES "crux"."version"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."audit_log" ADD CONSTRAINT "audit_log_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."registry" ADD CONSTRAINT "registry_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "crux"."team_member" ADD CONSTRAINT "team_member_team_id_team_id_fk" FOREIGN KEY ("team_id") REFERENCES "crux"."team"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deployment_newest" ON "crux"."deployment" USING btree ("team_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "deployment_version" ON "crux"."deployment" USING btree ("version_id");--> statement-breakpoint
CREATE INDEX "deployment_project" ON "crux"."deployment" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "deployment_node" ON "crux"."deployment" USING btree ("node_id","created_at" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "deployment_place" ON "crux"."deployment" USING btree ("node_id","prefix","project_id");--> statement-breakpoint
CREATE UNIQUE INDEX "deployment_one_preparing" ON "crux"."deployment" USING btree ("version_id","node_id","prefix") WHERE status = 'preparing';--> statement-breakpoint
CREATE INDEX "deployment_event_order" ON "crux"."deployment_event" USING btree ("deployment_id","try","position");--> statement-breakpoint
CREATE UNIQUE INDEX "deployment_event_once" ON "crux"."deployment_event" USING btree ("deployment_id","try","agent_sequence");--> statement-breakpoint
CREATE UNIQUE INDEX "instance_image" ON "crux"."instance" USING btree ("deployment_id","image_id");--> statement-breakpoint
CREATE INDEX "instance_by_image" ON "crux"."instance" USING btree ("image_id");--> statement-breakpoint
CREATE UNIQUE INDEX "release_number" ON "crux"."release" USING btree ("deployment_id","number");--> statement-breakpoint
CREATE UNIQUE INDEX "release_standing" ON "crux"."release" USING btree ("node_id","prefix","project_id") WHERE standing;--> statement-breakpoint
CREATE UNIQUE INDEX "release_one_running" ON "crux"."release" USING btree ("deployment_id") WHERE status = 'in-progress';--> statement-breakpoint
CREATE INDEX "release_open" ON "crux"."release" USING btree ("node_id","started_at") WHERE status = 'in-progress';--> statement-breakpoint
CREATE UNIQUE INDEX "release_instance_once" ON "crux"."release_instance" USING btree ("release_id","instance_id");--> statement-breakpoint
CREATE UNIQUE INDEX "node_name" ON "crux"."node" USING btree ("team_id","name");--> statement-breakpoint
CREATE INDEX "node_link" ON "crux"."node" USING btree ("link_server");--> statement-breakpoint
CREATE INDEX "node_event_newest" ON "crux"."node_event" USING btree ("node_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE INDEX "image_version" ON "crux"."image" USING btree ("version_id","order");--> statement-breakpoint
CREATE INDEX "image_registry" ON "crux"."image" USING btree ("registry_id");--> statement-breakpoint
CREATE UNIQUE INDEX "project_name" ON "crux"."project" USING btree ("team_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "version_name" ON "crux"."version" USING btree ("project_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "version_default" ON "crux"."version" USING btree ("project_id") WHERE "default";--> statement-breakpoint
CREATE INDEX "version_chain" ON "crux"."version" USING btree ("chain_id");--> statement-breakpoint
CREATE INDEX "audit_log_newest" ON "crux"."audit_log" USING btree ("team_id","created_at" DESC NULLS FIRST,"id" DESC NULLS FIRST);--> statement-breakpoint
CREATE UNIQUE INDEX "registry_name" ON "crux"."registry" USING btree ("team_id","name");--> statement-breakpoint
CREATE INDEX "team_member_user" ON "crux"."team_member" USING btree ("user_id");