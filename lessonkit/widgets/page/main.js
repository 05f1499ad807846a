// What anywidget calls for each place that shows a widget.

const ROLES = { explore: Explore };

export default {
  render({ model, el }) {
    new ROLES[model.get("role")](model, el);
  },
};
