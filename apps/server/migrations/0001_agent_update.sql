CREATE TABLE "crux"."node_update" (
	"node_id" uuid PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"state" text NOT NULL,
	"token_hash" text NOT NULL,
	"token" text,
	"previous_hash" text,
	"image" text,
	"from_version" text NOT NULL,
	"started_by_id" text NOT NULL,
	"started_by_name" text NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"deadline_at" timestamp (3) with time zone NOT NULL,
	"ended_at" timestamp (3) with time zone,
	"error" text,
	CONSTRAINT "node_update_tokenHash_unique" UNIQUE("token_hash"),
	CONSTRAINT "node_update_previousHash_unique" UNIQUE("previous_hash")
);
--> statement-breakpoint
ALTER TABLE "crux"."node" ADD COLUMN "agent_updatable" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "crux"."node_update" ADD CONSTRAINT "node_update_node_id_node_id_fk" FOREIGN KEY ("node_id") REFERENCES "crux"."node"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "node_update_open" ON "crux"."node_update" USING btree ("deadline_at") WHERE ended_at is null;