// Package page is what a person sees of a broker in a browser: lists, queues with their messages, and what may be done
// with them. Package mgmt serves it at /, beside the management API.
//
// What the API answers, and what it lets a user do, the page asks the API for: see Source. So both know the same
// users, permissions and refusals. Only what RabbitMQ's API has no path for is asked of the broker: where settings come
// from, messages that are not taken from their queue, and what moves them from one queue to another.
//
// A view is one template. Its live part is sent once as a part of the page, and then as server-sent events whenever it
// has changed. Nothing comes from another host, no script or style stands in the HTML, and all forms work without a
// script.
package page
